// Which initializers are parameters, buffers and constants, rule by rule.

#include "frontends/onnx/Model/ValuePatterns.h"

#include "Inputs.h"

#include <cmath>

using namespace dpc::onnx;

namespace {

/// Role and reason of each initializer of a model, by name.
std::map<std::string, Classified> classified(const Prepared &prepared,
                                             const std::vector<TrainingRequest> &requests = {},
                                             std::string *error = nullptr) {
  EXPECT_EQ(prepared.error, "");
  auto roles = classify(prepared.graph, requests);
  std::map<std::string, Classified> result;
  if (!roles) {
    std::string text = llvm::toString(roles.takeError());
    if (error)
      *error = text;
    else
      ADD_FAILURE() << text;
    return result;
  }
  for (size_t i = 0; i < roles->size(); ++i)
    result[prepared.graph.initializers[i].name] = (*roles)[i];
  return result;
}

void expectRole(const std::map<std::string, Classified> &roles, const std::string &name, Role role,
                const std::string &reason) {
  ASSERT_EQ(roles.count(name), 1u) << name;
  EXPECT_EQ(roles.at(name).role, role) << name << ": " << roles.at(name).reason;
  EXPECT_NE(roles.at(name).reason.find(reason), std::string::npos)
      << name << ": " << roles.at(name).reason;
}

TEST(Classify, FollowsExporterMetadata) {
  auto roles = classified(Prepared(inputPath("classify-dynamo")));
  expectRole(roles, "marked", Role::Parameter, "marked PARAMETER");
  expectRole(roles, "marked_buffer", Role::Buffer, "marked BUFFER");
  expectRole(roles, "marked_constant", Role::Constant, "marked CONSTANT_TENSOR");
  expectRole(roles, "folded_parameter", Role::Parameter,
             "folded by the exporter from parameter a.weight");
  expectRole(roles, "standardized", Role::Parameter,
             "folded by the exporter from parameters g.gain, g.weight");
  expectRole(roles, "folded_buffer", Role::Constant, "from no parameter");
  expectRole(roles, "lost.mark", Role::Parameter, "named as a PARAMETER");
  expectRole(roles, "lost.buffer", Role::Buffer, "named as a BUFFER");
  expectRole(roles, "taken", Role::Parameter, "its node takes parameter m.taken");
  expectRole(roles, "spare", Role::Constant, "every parameter of the module is accounted for");
}

TEST(Classify, LooksAtValuesAndUses) {
  auto roles = classified(Prepared(inputPath("classify-looks")));
  for (const char *name : {"weight", "fresh_bias", "fresh_scale", "embedding"})
    expectRole(roles, name, Role::Parameter, "float on a gradient path");
  expectRole(roles, "float_mask", Role::Constant, "mask");
  expectRole(roles, "one_mask", Role::Constant, "mask");
  expectRole(roles, "sine", Role::Constant, "table");
  expectRole(roles, "frequencies", Role::Constant, "table");
  expectRole(roles, "scalar", Role::Constant, "scalar");
  expectRole(roles, "single", Role::Constant, "scalar");
  expectRole(roles, "exponent", Role::Constant, "no gradient path");
  expectRole(roles, "unused_path", Role::Constant, "no gradient path");
  expectRole(roles, "indices", Role::Constant, "not a float");
  expectRole(roles, "mean", Role::Constant, "normalises a graph input");
  expectRole(roles, "deviation", Role::Constant, "normalises a graph input");
  expectRole(roles, "inv_freq", Role::Constant, "named as a buffer");
}

TEST(Classify, KnowsBatchNormStatistics) {
  auto roles = classified(Prepared(inputPath("classify-batch-norm")));
  expectRole(roles, "running_m", Role::Buffer, "running statistic");
  expectRole(roles, "running_v", Role::Buffer, "running statistic");
  expectRole(roles, "onnx::BatchNormalization_1", Role::Constant, "neutral scale or bias");
  expectRole(roles, "onnx::BatchNormalization_2", Role::Constant, "neutral scale or bias");
}

TrainingRequest trainable(const char *pattern) { return {true, pattern}; }
TrainingRequest frozen(const char *pattern) { return {false, pattern}; }

TEST(Classify, LaterRequestsWin) {
  Prepared prepared(inputPath("classify-looks"));
  auto roles = classified(prepared, {frozen("*"), trainable("fresh_*")});
  expectRole(roles, "fresh_bias", Role::Parameter, "--trainable");
  expectRole(roles, "weight", Role::Frozen, "--frozen");
  roles = classified(prepared, {trainable("*"), frozen("fresh_*"), trainable("fresh_bias")});
  expectRole(roles, "weight", Role::Parameter, "--trainable");
  expectRole(roles, "fresh_scale", Role::Frozen, "--frozen");
  expectRole(roles, "fresh_bias", Role::Parameter, "--trainable");
  roles = classified(prepared, {trainable("weight"), frozen("weight")});
  expectRole(roles, "weight", Role::Frozen, "--frozen");
}

TEST(Classify, TrainableStartsFromNone) {
  Prepared prepared(inputPath("classify-looks"));
  auto roles = classified(prepared, {trainable("weight")});
  expectRole(roles, "weight", Role::Parameter, "--trainable");
  expectRole(roles, "fresh_bias", Role::Frozen, "not named by --trainable");
  expectRole(roles, "sine", Role::Constant, "table");
  // --frozen alone takes away from what trains by default.
  roles = classified(prepared, {frozen("weight")});
  expectRole(roles, "weight", Role::Frozen, "--frozen");
  expectRole(roles, "fresh_bias", Role::Parameter, "float on a gradient path");
}

TEST(Classify, GlobsChooseAmongParameters) {
  Prepared prepared(inputPath("classify-looks"));
  auto roles = classified(prepared, {trainable("*")});
  expectRole(roles, "fresh_bias", Role::Parameter, "--trainable");
  expectRole(roles, "scalar", Role::Constant, "scalar");
  expectRole(roles, "float_mask", Role::Constant, "mask");
  expectRole(roles, "indices", Role::Constant, "not a float");
  roles = classified(prepared, {trainable("*"), trainable("mean")});
  expectRole(roles, "mean", Role::Parameter, "--trainable");
}

// Only parameters can be frozen: constants are what they were.
TEST(Classify, FrozenConstantsStayConstants) {
  auto roles = classified(Prepared(inputPath("classify-looks")), {frozen("*")});
  expectRole(roles, "weight", Role::Frozen, "--frozen");
  expectRole(roles, "float_mask", Role::Constant, "mask");
  expectRole(roles, "sine", Role::Constant, "table");
}

TEST(Classify, FrozenStatisticsStayState) {
  Prepared prepared(inputPath("classify-batch-norm"));
  auto roles = classified(prepared, {frozen("running_m")});
  expectRole(roles, "running_m", Role::Buffer, "running statistic");
}

TEST(Classify, RejectsRequestsThatNameNothing) {
  Prepared prepared(inputPath("classify-looks"));
  auto errorOf = [&](const std::vector<TrainingRequest> &requests) {
    std::string error;
    classified(prepared, requests, &error);
    return error;
  };
  EXPECT_EQ(errorOf({trainable("ghost")}), "--trainable=ghost: no initializer has this name");
  EXPECT_EQ(errorOf({frozen("ghost*")}), "--frozen=ghost*: no initializer has this name");
  EXPECT_EQ(errorOf({trainable("indices")}), "--trainable=indices: is not a float tensor");
  EXPECT_EQ(errorOf({trainable("[a")}), "--trainable=[a: not a valid pattern");
  EXPECT_EQ(errorOf({trainable("*_mask")}),
            "--trainable=*_mask: matches only tensors that do not train by "
            "default, such as 'float_mask' (--explain=all says why); "
            "--trainable=float_mask trains it");
}

TEST(Classify, PrintsATable) {
  Prepared prepared(inputPath("typed-data"));
  auto roles = classify(prepared.graph, {});
  ASSERT_TRUE(bool(roles));
  std::string text;
  llvm::raw_string_ostream os(text);
  printClassification(prepared.graph, *roles, os);
  EXPECT_EQ(text, "initializer  type                    role       why\n"
                  "w            FLOAT[4]                parameter  float on a "
                  "gradient path\n");
}

std::vector<std::string> losses(const char *name) {
  Prepared prepared(inputPath(name));
  EXPECT_EQ(prepared.error, "");
  auto roles = classify(prepared.graph, {});
  EXPECT_TRUE(bool(roles));
  return describeExportLosses(prepared.graph, *roles);
}

TEST(ExportLosses, TellsWhatTheDefaultExporterLost) {
  std::vector<std::string> lines = losses("losses-dynamo");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "'ln2' was equal to 'ln1', merged into it and trained as "
                      "one; torch.onnx.export(..., "
                      "optimize=False) keeps it");
  EXPECT_NE(lines[1].find("parameter 'tied' is 2 tensors in the file ('tied', "
                          "'val_2'), no longer tied"),
            std::string::npos);
  EXPECT_NE(lines[2].find("'val_1' for 'fc.weight'"), std::string::npos);
  EXPECT_NE(lines[3].find("parameter 'gone' of the module is not in the file"), std::string::npos);
}

// A bias is said to be merged into a bias; what a folded BatchNorm had is no
// loss of its own.
TEST(ExportLosses, PairsMergedParameters) {
  std::vector<std::string> lines = losses("losses-merged");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_NE(lines[0].find("BatchNorm is folded into 1 node"), std::string::npos);
  EXPECT_EQ(lines[1].find("'n2.bias' was equal to 'n1.bias', merged"), 0u);
  EXPECT_EQ(lines[2].find("'n2.weight', 'n3.weight' were equal to 'n1.weight', "
                          "merged"),
            0u);
  EXPECT_EQ(lines[3].find("parameter 'n3.bias' of the module is not in the "
                          "file"),
            0u);
}

TEST(ExportLosses, TellsWhatTorchScriptLost) {
  std::vector<std::string> lines = losses("losses-torchscript");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("BatchNorm is folded into 1 node ('/conv/Conv')"), std::string::npos);
  EXPECT_NE(lines[0].find("do_constant_folding=False"), std::string::npos);
  EXPECT_NE(lines[1].find("'b.weight' is one tensor with 'a.weight'"), std::string::npos);
}

TEST(ExportLosses, TellsOfBatchNormExportedForInference) {
  std::vector<std::string> lines = losses("losses-batch-norm");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("BatchNorm of a module in training mode is exported "
                          "for inference in 1 node ('norm')"),
            std::string::npos);
}

TEST(ExportLosses, SaysNothingOfOtherExporters) { EXPECT_TRUE(losses("identity").empty()); }

Tensor make(std::vector<int64_t> shape, std::vector<float> values) {
  auto owner = std::make_shared<std::vector<float>>(std::move(values));
  Tensor tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.bytes = {reinterpret_cast<const char *>(owner->data()), owner->size() * 4};
  tensor.owner = owner;
  return tensor;
}

TEST(ValuePatterns, Masks) {
  EXPECT_TRUE(looksLikeMask(make({2, 2}, {0, -1e9f, 0, 0})));
  EXPECT_TRUE(looksLikeMask(make({2}, {0, -INFINITY})));
  EXPECT_TRUE(looksLikeMask(make({2, 2}, {1, 0, 1, 1})));
  EXPECT_FALSE(looksLikeMask(make({4}, {0, 0, 1, 1}))); // an LSTM's bias
  EXPECT_FALSE(looksLikeMask(make({2, 2}, {0, 0, 0, 0})));
  EXPECT_FALSE(looksLikeMask(make({2, 2}, {1, 1, 1, 1})));
  EXPECT_FALSE(looksLikeMask(make({2, 2}, {0, -9, 0, 0})));
  EXPECT_FALSE(looksLikeMask(make({2, 2}, {0, -1e9f, 0.5f, 0})));
}

TEST(ValuePatterns, Tables) {
  std::vector<float> sine, line, noise{0.31f, -1.2f, 0.77f, 0.05f, 1.4f, -0.6f, 0.93f, -0.11f};
  for (int i = 0; i < 8; ++i) {
    sine.push_back(std::sin(0.7f * float(i)));
    line.push_back(0.25f * float(i) - 1);
  }
  EXPECT_TRUE(looksLikeTable(make({8}, sine)));
  EXPECT_TRUE(looksLikeTable(make({1, 8, 1}, line)));
  EXPECT_TRUE(looksLikeTable(make({4}, {1, 0.1f, 0.01f, 0.001f})));
  EXPECT_FALSE(looksLikeTable(make({8}, noise)));
  EXPECT_FALSE(looksLikeTable(make({2, 4}, noise)));
  EXPECT_FALSE(looksLikeTable(make({8}, std::vector<float>(8, 0))));
  EXPECT_FALSE(looksLikeTable(make({8}, std::vector<float>(8, 1))));
  EXPECT_FALSE(looksLikeTable(make({3}, {1, 0.1f, 0.01f})));
}

} // namespace

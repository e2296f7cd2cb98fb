// Operator schemas by name and version.

#include "frontends/onnx/Model/Schema.h"

#include "OnnxSchema.pb.h"

#include <gtest/gtest.h>

using namespace dpc;
using namespace dpc::onnx;

namespace {

TypeSet tensorOf(ElementType type) { return TypeSet(1) << int32_t(type); }
TypeSet sequenceOf(ElementType type) { return tensorOf(type) << 32; }

/// What checkNode says of a node of operator `name` at `opset`.
std::string problemOf(llvm::StringRef name, int64_t opset, llvm::ArrayRef<bool> inputs,
                      llvm::ArrayRef<bool> outputs,
                      std::vector<std::pair<std::string, int>> types = {}) {
  std::vector<onnxpb::AttributeProto> attributes(types.size());
  std::vector<NamedAttribute> named;
  for (size_t i = 0; i < types.size(); ++i) {
    attributes[i].set_type(static_cast<onnxpb::AttributeProto::AttributeType>(types[i].second));
    named.push_back({types[i].first, &attributes[i]});
  }
  const Schema *schema = Schema::find(name, opset);
  return schema ? llvm::toString(checkNode(*schema, "it", inputs, outputs, named))
                : "there is none";
}

constexpr int kInt = onnxpb::AttributeProto::INT, kString = onnxpb::AttributeProto::STRING;

TEST(Schema, FindsTheVersionInForce) {
  for (auto [opset, since] : {std::pair(13, 9), {14, 14}, {15, 15}, {27, 15}})
    EXPECT_EQ(Schema::find("BatchNormalization", opset)->since, since);
  EXPECT_EQ(Schema::find("Gelu", 19), nullptr);
  EXPECT_EQ(Schema::find("Gelu", 20)->since, 20);
  EXPECT_EQ(Schema::find("NoSuchOperator", 17), nullptr);
}

TEST(Schema, KnowsDefaults) {
  const Schema *pad = Schema::find("Pad", 13);
  EXPECT_EQ(std::get<llvm::StringRef>(pad->attribute("mode")->fallback), "constant");
  const Schema *celu = Schema::find("HardSigmoid", 13);
  EXPECT_EQ(std::get<double>(celu->attribute("alpha")->fallback), double(0.2f));
}

TEST(Schema, RefusesWithdrawnOperators) {
  EXPECT_EQ(problemOf("GroupNormalization", 18, {true, true, true}, {true}, {{"num_groups", kInt}}),
            "it: ONNX has withdrawn this operator");
  EXPECT_EQ(problemOf("GroupNormalization", 21, {true, true, true}, {true}, {{"num_groups", kInt}}),
            "");
}

TEST(Schema, ChecksAttributes) {
  EXPECT_EQ(problemOf("Softmax", 13, {true}, {true}, {{"axis", kInt}}), "");
  EXPECT_EQ(problemOf("Softmax", 13, {true}, {true}, {{"axes", kInt}}),
            "it: has no attribute 'axes'");
  EXPECT_EQ(problemOf("Softmax", 13, {true}, {true}, {{"axis", kString}}),
            "it: attribute 'axis' has type STRING but must have INT");
  EXPECT_EQ(problemOf("Cast", 13, {true}, {true}), "it: attribute 'to' is missing");
  // Attributes of a later version.
  EXPECT_EQ(problemOf("Reshape", 13, {true, true}, {true}, {{"allowzero", kInt}}),
            "it: has no attribute 'allowzero'");
  EXPECT_EQ(problemOf("Reshape", 14, {true, true}, {true}, {{"allowzero", kInt}}), "");
  // What ONNX leaves open.
  EXPECT_EQ(problemOf("Softmax", 13, {true}, {true}, {{"__note", kString}}), "");
  EXPECT_EQ(problemOf("LayerNormalization", 17, {true, true}, {true}, {{"anything", kString}}), "");
}

TEST(Schema, ChecksInputsAndOutputs) {
  EXPECT_EQ(problemOf("Relu", 14, {}, {true}), "it: has 0 inputs but must have 1");
  EXPECT_EQ(problemOf("Relu", 14, {true, false}, {true}), "it: has 2 inputs but must have 1");
  EXPECT_EQ(problemOf("Relu", 14, {true}, {true, true}), "it: has 2 outputs but must have 1");
  EXPECT_EQ(problemOf("Relu", 14, {true}, {false}), "it: output 0 ('Y') is omitted but required");
  EXPECT_EQ(problemOf("Clip", 13, {true, false, true}, {true}), "");
  EXPECT_EQ(problemOf("Clip", 13, {true, true, true, true}, {true}),
            "it: has 4 inputs but must have 1 to 3");
  EXPECT_EQ(problemOf("Add", 14, {false, true}, {true}),
            "it: input 0 ('A') is omitted but required");
  EXPECT_EQ(problemOf("Concat", 13, {}, {true}, {{"axis", kInt}}),
            "it: has 0 inputs but must have 1 or more");
  EXPECT_EQ(problemOf("Concat", 13, {true, true, true}, {true}, {{"axis", kInt}}), "");
  EXPECT_EQ(problemOf("Concat", 13, {true, false}, {true}, {{"axis", kInt}}),
            "it: input 1 ('inputs') is omitted but required");
  EXPECT_EQ(problemOf("LSTM", 14, {true, true, true, false, false, true}, {false, true}), "");
}

TEST(Schema, ChecksTypes) {
  TypeSet f32 = tensorOf(ElementType::F32), f64 = tensorOf(ElementType::F64),
          boolean = tensorOf(ElementType::Bool);
  const Schema *add = Schema::find("Add", 14), *where = Schema::find("Where", 16),
               *relu = Schema::find("Relu", 14), *at = Schema::find("SequenceAt", 11),
               *cast = Schema::find("EyeLike", 13);
  EXPECT_EQ(typeProblem(*add, {f32, f32}, {f32}), "");
  EXPECT_EQ(typeProblem(*add, {f32, f64}, {}),
            "input 0 ('A') and input 1 ('B') have types FLOAT and DOUBLE but "
            "must have one");
  EXPECT_EQ(typeProblem(*add, {f32, f32}, {f64}),
            "input 0 ('A') and output 0 ('C') have types FLOAT and DOUBLE but "
            "must have one");
  EXPECT_EQ(typeProblem(*where, {boolean, f32, f32}, {f32}), "");
  EXPECT_EQ(typeProblem(*where, {f32, f32, f32}, {}),
            "input 0 ('condition') has type FLOAT but must have BOOL");
  EXPECT_EQ(typeProblem(*relu, {sequenceOf(ElementType::F32)}, {}),
            "input 0 ('X') has type a sequence of FLOAT but must have FLOAT, "
            "INT8, INT16, INT32, INT64, FLOAT16, DOUBLE or BFLOAT16");
  EXPECT_EQ(typeProblem(*relu, {kAnySequence}, {})
                .find("input 0 ('X') has type an empty sequence but must have"),
            0u);
  EXPECT_EQ(typeProblem(*at, {sequenceOf(ElementType::F32), tensorOf(ElementType::I64)}, {f32}),
            "");
  EXPECT_EQ(typeProblem(*cast, {f32}, {tensorOf(ElementType::BF16)})
                .find("output 0 ('output') has type BFLOAT16 but must have"),
            0u);
  // An operand that is not given has no type.
  EXPECT_EQ(typeProblem(*Schema::find("Clip", 13), {f32, 0, f32}, {f32}), "");
}

} // namespace

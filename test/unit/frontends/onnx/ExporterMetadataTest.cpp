// Reading what PyTorch's exporters wrote about a graph.

#include "frontends/onnx/Model/ExporterMetadata.h"

#include <gtest/gtest.h>

using namespace dpc::onnx;

namespace {

TEST(ExporterMetadata, ParsesAGraphSignature) {
  GraphSignature signature = parseGraphSignature("\n# inputs\np_w: PARAMETER target='a.w'\nb_m: "
                                                 "BUFFER target='bn.m' persistent=True\nx: "
                                                 "USER_INPUT\n\n# outputs\ng: BUFFER_MUTATION "
                                                 "target='bn.m'\ny: USER_OUTPUT\n");
  ASSERT_EQ(signature.inputs.size(), 3u);
  ASSERT_EQ(signature.outputs.size(), 2u);
  ASSERT_NE(signature.findTarget("a.w"), nullptr);
  EXPECT_EQ(signature.findTarget("a.w")->placeholder, "p_w");
  EXPECT_EQ(signature.findPlaceholder("b_m")->kind, "BUFFER");
  EXPECT_EQ(signature.findPlaceholder("x")->target, "");
  EXPECT_EQ(signature.findTarget(""), nullptr);
  EXPECT_EQ(signature.outputs[0].kind, "BUFFER_MUTATION");
}

TEST(ExporterMetadata, ReadsFxArguments) {
  EXPECT_EQ(fxArguments("%y : [num_users=1] = "
                        "call_function[target=torch.ops.aten.linear.default](args = (%add_1, "
                        "%p_w, None), kwargs = {bias: %p_b})"),
            (std::vector<std::string>{"add_1", "p_w", "p_b"}));
  EXPECT_TRUE(fxArguments("%y : placeholder").empty());
}

TEST(ExporterMetadata, ReadsPythonLists) {
  EXPECT_EQ(parsePythonList("['a.b', \"c'd\"]"), (std::vector<std::string>{"a.b", "c'd"}));
  EXPECT_TRUE(parsePythonList("[]").empty());
  EXPECT_TRUE(parsePythonList("['open").empty());
}

TEST(ExporterMetadata, KnowsGeneratedNames) {
  for (const char *name : {"onnx::MatMul_291", "/a/Constant_output_0", "57"})
    EXPECT_TRUE(isGeneratedName(name)) << name;
  for (const char *name : {"fc.weight", "logit_scale", "w57"})
    EXPECT_FALSE(isGeneratedName(name)) << name;
}

} // namespace

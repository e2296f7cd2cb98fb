// Plans that fit their graph, and others.

#include "frontends/onnx/Restore/RestorationPlan.h"

#include "test/unit/frontends/onnx/Inputs.h"

using namespace dpc::onnx;

namespace {

struct RestorationPlanTest : ::testing::Test {
  Prepared prepared{std::string(DPC_MODULE_MODELS "/tied/model.onnx")};
  RestorationPlan plan = planRestoration(prepared.graph);

  std::string checked() { return llvm::toString(plan.check(prepared.graph)); }
  std::string verified() { return llvm::toString(plan.verify(prepared.graph)); }
  RestoredTensor &named(llvm::StringRef name) {
    return *llvm::find_if(plan.tensors,
                          [&](const RestoredTensor &tensor) { return tensor.name == name; });
  }
};

TEST_F(RestorationPlanTest, FitsItsGraph) {
  ASSERT_EQ(prepared.error, "");
  EXPECT_EQ(checked(), "");
  EXPECT_EQ(verified(), "");
  EXPECT_TRUE(plan.lost.empty());
  // The buffer that equals the norms' weights stays a buffer.
  EXPECT_EQ(named("scale").kind, TensorKind::Buffer);
  EXPECT_EQ(named("norms.1.weight").kind, TensorKind::Parameter);
  EXPECT_TRUE(named("head.weight").isInFile);
}

TEST_F(RestorationPlanTest, AnOperandIsPlannedOnce) {
  plan.uses.push_back(plan.uses.front());
  EXPECT_NE(checked().find("cannot be"), std::string::npos) << checked();
}

TEST_F(RestorationPlanTest, NamesAreGivenOnce) {
  plan.tensors[1].name = plan.tensors[0].name;
  EXPECT_NE(checked().find("is planned twice"), std::string::npos);
  plan.tensors[1].name = prepared.graph.inputs.front().name;
  EXPECT_NE(checked().find("is another value's name"), std::string::npos);
}

TEST_F(RestorationPlanTest, ValuesProveIt) {
  Tensor &value = named("norms.1.weight").value;
  std::vector<char> bytes(value.bytes.begin(), value.bytes.end());
  bytes[0] ^= 1;
  value = makeTensor(value.type, value.shape, bytes);
  EXPECT_NE(verified().find("'norms.1.weight' does not give what"), std::string::npos)
      << verified();
}

/// What recurrent operators join.
struct JoinedPlanTest : ::testing::Test {
  Prepared prepared{std::string(DPC_MODULE_MODELS "/recurrent/model.onnx")};
  RestorationPlan plan = planRestoration(prepared.graph);

  std::string checked() { return llvm::toString(plan.check(prepared.graph)); }
  std::string verified() { return llvm::toString(plan.verify(prepared.graph)); }
};

TEST_F(JoinedPlanTest, FitsItsGraph) {
  ASSERT_EQ(prepared.error, "");
  EXPECT_EQ(checked(), "");
  EXPECT_EQ(verified(), "");
  EXPECT_TRUE(plan.lost.empty());
  // States that were repeated may have had fewer dimensions, but for the one of two layers.
  EXPECT_EQ(plan.doubts.size(), 3u);
  EXPECT_EQ(plan.joinedUses.size(), 3u + 3 + 2 + 3);
}

TEST_F(JoinedPlanTest, AnOperandIsPlannedOnce) {
  plan.joinedUses.push_back(plan.joinedUses.front());
  EXPECT_NE(checked().find("a joined operand does not fit the graph"), std::string::npos);
  plan.joinedUses.pop_back();
  plan.joinedUses.back().tensors.push_back(plan.tensors.size());
  EXPECT_NE(checked().find("a joined operand does not fit the graph"), std::string::npos);
}

TEST_F(JoinedPlanTest, GatesAreInTheirOrder) {
  std::swap(plan.joinedUses.front().gates[0], plan.joinedUses.front().gates[1]);
  EXPECT_NE(verified().find("does not give what"), std::string::npos) << verified();
  std::swap(plan.joinedUses.front().gates[0], plan.joinedUses.front().gates[1]);
  plan.joinedUses.front().tensors.pop_back();
  EXPECT_NE(verified().find("does not give what"), std::string::npos) << verified();
}

} // namespace

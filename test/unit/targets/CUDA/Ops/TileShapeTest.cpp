// Shapes of tiles: the unit that multiplies, and the stages that fit shared memory.

#include "targets/CUDA/Ops/TileShape.h"

#include "targets/CUDA/Grids/LaunchPlan.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace dpc;

namespace {

class TileShapes : public testing::Test {
protected:
  MLIRContext context;
  Builder b{&context};
  const Type bf16 = b.getBF16Type(), f16 = b.getF16Type(), f32 = b.getF32Type(),
             f64 = b.getF64Type();
};

TEST_F(TileShapes, UnitFollowsTypes) {
  auto unitOf = [&](Type factor, Type result, FactorForm factors = FactorForm::whole) {
    return TileShape::unitFor({factor, result}, /*keepsOrder=*/false, factors);
  };
  EXPECT_EQ(unitOf(bf16, bf16), TileUnit::halves);
  EXPECT_EQ(unitOf(f16, f32), TileUnit::halves);
  EXPECT_EQ(unitOf(bf16, f64), TileUnit::f64);
  EXPECT_EQ(unitOf(f32, f32), TileUnit::scalar);
  EXPECT_EQ(unitOf(f32, f32, FactorForm::rounded), TileUnit::tf32);
  EXPECT_EQ(unitOf(f32, f32, FactorForm::split), TileUnit::tf32x3);
  EXPECT_EQ(unitOf(f32, f64, FactorForm::rounded), TileUnit::f64);
  EXPECT_EQ(unitOf(bf16, f32, FactorForm::split), TileUnit::halves);
  for (Type type : {bf16, f16, f32, f64})
    EXPECT_EQ(TileShape::unitFor({type, type}, /*keepsOrder=*/true, FactorForm::split),
              TileUnit::scalar);
}

TEST_F(TileShapes, StagesFitSharedMemory) {
  for (Type type : {bf16, f32, f64})
    for (FactorForm factors : {FactorForm::whole, FactorForm::split})
      for (int64_t high : {2, 4, 8})
        for (int64_t wide : {2, 4, 8}) {
          const ProductTypes types{type, type};
          TileShape shape =
              TileShape::of(types, TileShape::unitFor(types, false, factors), high, wide);
          EXPECT_EQ(llvm::toString(shape.verify()), "");
          EXPECT_GE(shape.stages, 2);
          if (shape.stages < TileShape::kMostStages) {
            ++shape.stages;
            EXPECT_GT(shape.getSharedBytes(), LaunchPlan::kSharedBytes);
          }
        }
}

// The part of a warp has 64 x 32 sums in large tiles. A smaller tile has half of the warps.
TEST_F(TileShapes, WarpsHaveLargeParts) {
  auto partOf = [&](Type type, FactorForm factors, int64_t high, int64_t wide) {
    const ProductTypes types{type, type};
    const TileShape shape =
        TileShape::ofBlock(types, TileShape::unitFor(types, false, factors), high, wide);
    EXPECT_EQ(llvm::toString(shape.verify()), "");
    EXPECT_EQ(shape.countSums() * shape.getThreads(), shape.getRows() * shape.getColumns());
    return std::tuple(shape.getThreads(), shape.getRows() / shape.warpRows,
                      shape.getColumns() / shape.warpColumns, shape.countResidentBlocks());
  };
  for (auto [type, factors] : {std::pair(f32, FactorForm::rounded), {bf16, FactorForm::whole}}) {
    EXPECT_EQ(partOf(type, factors, 8, 8), std::tuple(256, 64, 32, 2));
    EXPECT_EQ(partOf(type, factors, 8, 4), std::tuple(128, 64, 32, 3));
    EXPECT_EQ(partOf(type, factors, 4, 8), std::tuple(128, 64, 32, 3));
    EXPECT_EQ(partOf(type, factors, 4, 4), std::tuple(128, 32, 32, 3));
    EXPECT_EQ(partOf(type, factors, 2, 8), std::tuple(256, 16, 32, 2));
  }
  EXPECT_EQ(partOf(f32, FactorForm::split, 8, 4), std::tuple(256, 64, 16, 0));
  EXPECT_EQ(partOf(f64, FactorForm::whole, 4, 4), std::tuple(256, 32, 16, 0));
}

TEST_F(TileShapes, VerifyFindsBrokenShapes) {
  const ProductTypes types{bf16, bf16};
  const TileShape shape = TileShape::of(types, TileUnit::halves, 8, 8);
  auto messageOf = [](const TileShape &broken) { return llvm::toString(broken.verify()); };
  EXPECT_EQ(messageOf(shape), "");
  TileShape broken = shape;
  broken.high = 3;
  EXPECT_EQ(messageOf(broken),
            "a tile of 48 x 128 elements cannot be divided among the warps of a block");
  broken = shape;
  broken.depth = 24;
  EXPECT_EQ(messageOf(broken), "a tile of 128 x 128 elements has slices with incomplete steps");
  broken = shape;
  broken.stages = 8;
  EXPECT_EQ(messageOf(broken), "a tile of 128 x 128 elements does not fit shared memory");
}

} // namespace

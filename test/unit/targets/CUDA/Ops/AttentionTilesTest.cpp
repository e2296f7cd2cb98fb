// Tiles of an attention whose scores stay in registers: which attentions have them, and that they
// fit registers and shared memory.

#include "targets/CUDA/Ops/AttentionTiles.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace dpc;

namespace {

using Work = AttentionTiles::Work;

class AttentionTilesOf : public testing::Test {
protected:
  MLIRContext context;
  Builder b{&context};
  const Type bf16 = b.getBF16Type(), f32 = b.getF32Type(), f64 = b.getF64Type();
  const GridOptions plain{true, false, FactorForm::whole}, tf32{true, false, FactorForm::rounded},
      ordered{false, true, FactorForm::whole};

  nn::AttentionShape shapeOf(int64_t depth, int64_t valueDepth) {
    auto type = [&](int64_t rows, int64_t elements) {
      return RankedTensorType::get({2, rows, 3, elements}, bf16);
    };
    return {type(100, depth), type(130, depth), type(130, valueDepth), /*rows=*/1, /*causal=*/true};
  }
};

TEST_F(AttentionTilesOf, UnitsMultiplyThem) {
  const nn::AttentionShape shape = shapeOf(64, 64);
  for (Work work : {Work::result, Work::queryGrad, Work::keyGrads}) {
    EXPECT_TRUE(AttentionTiles::of(shape, bf16, work, plain));
    EXPECT_TRUE(AttentionTiles::of(shape, f32, work, tf32));
    EXPECT_FALSE(AttentionTiles::of(shape, bf16, work, ordered));
    EXPECT_EQ(AttentionTiles::of(shape, f32, work, tf32)->unit, TileUnit::tf32);
    // Almost as precise as f32.
    EXPECT_EQ(AttentionTiles::of(shape, f32, work, plain)->unit, TileUnit::tf32x3);
    EXPECT_FALSE(AttentionTiles::of(shape, f32, work, ordered));
    EXPECT_FALSE(AttentionTiles::of(shape, f64, work, tf32));
  }
}

TEST_F(AttentionTilesOf, TilesFit) {
  for (int64_t depth : {6, 40, 64, 80, 128, 256})
    for (int64_t valueDepth : {9, 64, 128, 260})
      for (Work work : {Work::result, Work::queryGrad, Work::keyGrads})
        for (auto [type, options] : {std::pair(bf16, plain), {f32, tf32}, {f32, plain}}) {
          auto tiles = AttentionTiles::of(shapeOf(depth, valueDepth), type, work, options);
          if (!tiles)
            continue;
          EXPECT_EQ(llvm::toString(tiles->verify()), "");
          // Blocks together have all columns of the results, and no block reads after a line.
          const int64_t columns = tiles->columns * tiles->countColumns();
          if (work != Work::queryGrad) {
            EXPECT_GE(columns, valueDepth);
          }
          if (work != Work::result) {
            EXPECT_GE(columns, depth);
          }
          EXPECT_GE(tiles->depth, depth);
          EXPECT_GE(tiles->valueDepth, valueDepth);
        }
}

TEST_F(AttentionTilesOf, HeadsOfModels) {
  auto tilesOf = [&](int64_t depth, Work work) {
    return *AttentionTiles::of(shapeOf(depth, depth), bf16, work, plain);
  };
  EXPECT_EQ(tilesOf(64, Work::result).others, 64);
  EXPECT_EQ(tilesOf(64, Work::result).kept, 0);
  EXPECT_EQ(tilesOf(64, Work::result).residentBlocks, 3);
  // Two resident blocks compute long rows once, where three would compute scores again.
  EXPECT_EQ(tilesOf(128, Work::keyGrads).residentBlocks, 2);
  for (int64_t depth : {64, 128})
    for (Work work : {Work::result, Work::queryGrad})
      EXPECT_EQ(tilesOf(depth, work).countColumns(), 1);
  const TileGrid grid = tilesOf(128, Work::keyGrads).getGrid(shapeOf(128, 128));
  EXPECT_EQ(grid.blocks, 2 * 3 * 3 * tilesOf(128, Work::keyGrads).countColumns());
  EXPECT_EQ(grid.threads, 128);
}

// Incomplete tiles need registers for comparisons, and split factors for both of their parts.
TEST_F(AttentionTilesOf, RegistersFollowTheWork) {
  AttentionTiles tiles = *AttentionTiles::of(shapeOf(64, 64), f32, Work::queryGrad, tf32);
  EXPECT_TRUE(tiles.isUneven);
  const int64_t uneven = tiles.countRegisters();
  tiles.isUneven = false;
  const int64_t even = tiles.countRegisters();
  EXPECT_LT(even, uneven);
  tiles.unit = TileUnit::tf32x3;
  EXPECT_LT(even, tiles.countRegisters());
}

TEST_F(AttentionTilesOf, VerifyFindsBrokenTiles) {
  const AttentionTiles tiles = *AttentionTiles::of(shapeOf(64, 64), bf16, Work::queryGrad, plain);
  auto messageOf = [](const AttentionTiles &broken) { return llvm::toString(broken.verify()); };
  AttentionTiles odd = tiles;
  odd.others = 24;
  EXPECT_EQ(messageOf(odd), "a tile of 24 rows and 64 columns has incomplete matrices");
  AttentionTiles keeping = tiles;
  keeping.kept = 3;
  EXPECT_EQ(messageOf(keeping), "a tile of " + std::to_string(tiles.others) +
                                    " rows and 64 columns keeps operands that are not there");
  AttentionTiles large = tiles;
  large.others = 128;
  EXPECT_EQ(messageOf(large), "a tile of 128 rows and 64 columns does not fit shared memory");
  AttentionTiles wide = tiles;
  wide.others = 16;
  wide.columns = 256;
  EXPECT_EQ(messageOf(wide), "a tile of 16 rows and 256 columns does not fit registers");
}

} // namespace

// Chooses the unit that multiplies, the depth of slices and the number of stages.

#include "targets/CUDA/Ops/TileShape.h"

#include "dialects/NN/IR/SumTypes.h"
#include "targets/CUDA/Grids/LaunchPlan.h"
#include "targets/CUDA/Ops/SliceLayout.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace dpc;

/// The shared memory that every device allows a block without a special request. A launch of tiles
/// has no reductions that need a part of it.
static const int64_t kMostBytes = 48 * 1024;

TileUnit TileShape::unitFor(ProductTypes types, bool keepsOrder, FactorForm factors) {
  const Type sum = nn::accumulatorType(types.result);
  if (keepsOrder)
    return TileUnit::scalar;
  if (sum.isF64())
    return TileUnit::f64;
  if (!types.factor.isF32())
    return TileUnit::halves;
  switch (factors) {
  case FactorForm::whole:
    return TileUnit::scalar;
  case FactorForm::rounded:
    return TileUnit::tf32;
  case FactorForm::split:
    return TileUnit::tf32x3;
  }
  return TileUnit::scalar;
}

TileShape TileShape::of(ProductTypes types, TileUnit unit, int64_t high, int64_t wide) {
  TileShape shape{unit, high, wide};
  const Type sum = nn::accumulatorType(types.result);
  shape.bytes =
      (unit == TileUnit::halves ? types.factor : sum).getIntOrFloatBitWidth() / int64_t(8);
  shape.depth = 64 / shape.bytes;
  while (shape.stages < kMostStages) {
    ++shape.stages;
    if (shape.getSharedBytes() > kMostBytes) {
      --shape.stages;
      break;
    }
  }
  return shape;
}

// The larger the part of a warp, the fewer instructions load and round factors per multiplication,
// and the fewer bytes are loaded from shared memory. Parts of 64 x 32 sums leave two blocks of
// eight warps enough registers. A smaller tile has half of the warps, so that their parts are not
// smaller.
TileShape TileShape::ofBlock(ProductTypes types, TileUnit unit, int64_t high, int64_t wide) {
  TileShape shape = of(types, unit, high, wide);
  const bool isNarrow = unit == TileUnit::tf32 || unit == TileUnit::halves;
  if (isNarrow && std::min(high, wide) >= 4 && high * wide < 64) {
    shape.warpColumns = wide * kSide / 32;
    shape.warpRows = 4 / shape.warpColumns;
  }
  return shape;
}

int64_t TileShape::getThreads() const {
  return unit == TileUnit::scalar ? kThreads : warpRows * warpColumns * LaunchPlan::kWarp;
}

// While a block waits for a barrier, another one multiplies. Split factors need the registers of
// both.
int64_t TileShape::countResidentBlocks() const {
  if (unit != TileUnit::halves && unit != TileUnit::tf32)
    return 0;
  return getThreads() < kThreads ? 3 : 2;
}

int64_t TileShape::getStep() const {
  switch (unit) {
  case TileUnit::scalar:
    return 1;
  case TileUnit::halves:
    return 16;
  case TileUnit::tf32:
  case TileUnit::tf32x3:
    return 8;
  case TileUnit::f64:
    return 4;
  }
  return 1;
}

int64_t TileShape::getSharedBytes() const {
  const int64_t padding = unit == TileUnit::scalar ? 2 * depth * SliceLayout::kChunk : 0;
  return stages * ((getRows() + getColumns()) * depth * bytes + padding);
}

llvm::Error TileShape::verify() const {
  auto failed = [&](const char *what) {
    return llvm::createStringError("a tile of %lld x %lld elements %s",
                                   static_cast<long long>(getRows()),
                                   static_cast<long long>(getColumns()), what);
  };
  if (high < 2 || wide < 2 || high % 2 != 0 || wide % 2 != 0)
    return failed("cannot be divided among the warps of a block");
  if (depth < getStep() || depth % getStep() != 0)
    return failed("has slices with incomplete steps");
  if (stages < 1 || getSharedBytes() > kMostBytes)
    return failed("does not fit shared memory");
  return llvm::Error::success();
}

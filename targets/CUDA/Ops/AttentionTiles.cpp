// Chooses the sizes of the tiles of an attention whose scores stay in registers.

#include "targets/CUDA/Ops/AttentionTiles.h"

#include "dialects/NN/IR/SumTypes.h"
#include "targets/CUDA/Ops/SliceLayout.h"
#include "targets/CUDA/Ops/WarpProduct.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;

/// The shared memory that every device allows a block without a special request.
static const int64_t kMostBytes = 48 * 1024;
/// About how many registers hold addresses, fragments of the other factor and numbers per row.
static const int64_t kOtherRegisters = 48;

/// About how many more hold both parts of split factors and the sums of steps. The assembler
/// interleaves many steps.
static int64_t countSplitRegisters(AttentionTiles::Work work) {
  return work == AttentionTiles::Work::queryGrad ? 40 : 82;
}

static int64_t alignedTo(int64_t elements, int64_t alignment) {
  return static_cast<int64_t>(
      llvm::alignTo(static_cast<uint64_t>(elements), static_cast<uint64_t>(alignment)));
}

std::optional<AttentionTiles> AttentionTiles::of(const nn::AttentionShape &shape, Type factor,
                                                 Work work, const GridOptions &options) {
  AttentionTiles tiles;
  tiles.work = work;
  // Units that multiply factors of f32 in parts are almost as precise as scalar instructions.
  const FactorForm factors =
      options.factors == FactorForm::whole ? FactorForm::split : options.factors;
  tiles.unit =
      TileShape::unitFor({factor, nn::accumulatorType(factor)}, options.keepsOrder, factors);
  if (tiles.unit != TileUnit::halves && !isTf32(tiles.unit))
    return std::nullopt;
  tiles.bytes = factor.getIntOrFloatBitWidth() / 8;
  const bool isKeyWork = work == Work::keyGrads;
  for (int64_t columns : {128, 64, 32}) {
    // If several blocks share the rows of an operand, they have equal shares.
    auto lengthOf = [&](int64_t elements, bool isShared) {
      return alignedTo(elements,
                       isShared && elements > columns ? columns : WarpProduct::kAlignment);
    };
    tiles.depth = lengthOf(shape.depth, work != Work::result);
    tiles.valueDepth = lengthOf(shape.valueDepth, work != Work::queryGrad);
    tiles.columns = std::min(columns, tiles.getLongestResult());
    for (int64_t residentBlocks : {3, 2}) {
      if (residentBlocks == 3 && tiles.unit == TileUnit::tf32x3)
        continue;
      for (int64_t others : {64, 32, 16})
        for (int64_t kept : {0, 1, 2}) {
          tiles.residentBlocks = residentBlocks;
          tiles.others = others;
          tiles.kept = kept;
          tiles.isUneven = shape.queries % (isKeyWork ? others : kRows) != 0 ||
                           shape.keys % (isKeyWork ? kRows : others) != 0;
          if (!llvm::errorToBool(tiles.verify()))
            return tiles;
        }
    }
  }
  return std::nullopt;
}

int64_t AttentionTiles::getLongestResult() const {
  switch (work) {
  case Work::result:
    return valueDepth;
  case Work::queryGrad:
    return depth;
  case Work::keyGrads:
    return std::max(depth, valueDepth);
  }
  return depth;
}

int64_t AttentionTiles::countColumns() const {
  return static_cast<int64_t>(llvm::divideCeil(getLongestResult(), columns));
}

TileGrid AttentionTiles::getGrid(const nn::AttentionShape &shape) const {
  const int64_t rows = work == Work::keyGrads ? shape.keys : shape.queries;
  return {shape.batches() * static_cast<int64_t>(llvm::divideCeil(rows, kRows)) * countColumns(),
          kThreads, residentBlocks};
}

SmallVector<int64_t> AttentionTiles::getOwnDepths() const {
  if (work == Work::result)
    return {depth};
  return {depth, valueDepth};
}

SmallVector<int64_t> AttentionTiles::getOtherDepths() const {
  return {depth, work == Work::result ? columns : valueDepth};
}

int64_t AttentionTiles::bytesOf(int64_t lines, int64_t elements) const {
  return SliceLayout::forRows(lines, elements, bytes).getBytes();
}

int64_t AttentionTiles::getOwnBytes(int64_t first, int64_t last) const {
  int64_t sum = 0;
  const SmallVector<int64_t> depths = getOwnDepths();
  for (int64_t number = first; number < last; ++number)
    sum += bytesOf(kRows, depths[static_cast<size_t>(number)]);
  return sum;
}

int64_t AttentionTiles::getKeptBytes() const { return getOwnBytes(0, kept); }
int64_t AttentionTiles::getNumberBytes() const {
  // Three numbers of f32 per query.
  return work == Work::keyGrads ? kStages * others * 3 * 4 : 0;
}

int64_t AttentionTiles::getStageBytes() const {
  int64_t sum = 0;
  for (int64_t elements : getOtherDepths())
    sum += kStages * bytesOf(others, elements);
  return sum;
}

int64_t AttentionTiles::getSharedBytes() const {
  const auto count = static_cast<int64_t>(getOwnDepths().size());
  return getKeptBytes() + std::max(getStageBytes(), getOwnBytes(kept, count)) + getNumberBytes();
}

int64_t AttentionTiles::countRegisters() const {
  int64_t registers = kOtherRegisters;
  const SmallVector<int64_t> depths = getOwnDepths();
  for (int64_t elements : ArrayRef(depths).drop_front(static_cast<size_t>(kept)))
    registers += elements * bytes / 4 * WarpProduct::kRows / LaunchPlan::kWarp;
  // A thread has an address for each piece of 16 bytes that it copies, and the position of each
  // piece if they are not a constant number of lines apart.
  for (int64_t elements : getOtherDepths()) {
    const int64_t inLine = elements * bytes / SliceLayout::kChunk;
    const auto pieces = static_cast<int64_t>(llvm::divideCeil(others * inLine, kThreads));
    registers += pieces * (llvm::isPowerOf2_64(static_cast<uint64_t>(inLine)) ? 1 : 3);
  }
  if (unit == TileUnit::tf32x3)
    registers += countSplitRegisters(work);
  const int64_t scores = WarpProduct::countSums(others), sums = WarpProduct::countSums(columns);
  // Comparisons of positions for each piece that is copied, and for each that is rounded in place.
  if (isUneven && work != Work::result)
    registers +=
        unit == TileUnit::halves ? scores / 4 + (others > 32 ? 32 : 0) : scores * 3 / 2 + 16;
  switch (work) {
  case Work::result:
    return registers + scores + sums;
  case Work::queryGrad:
    return registers + 2 * scores + sums;
  case Work::keyGrads:
    return registers + 2 * scores + 2 * sums;
  }
  return registers;
}

llvm::Error AttentionTiles::verify() const {
  auto failed = [&](const char *what) {
    return llvm::createStringError("a tile of %lld rows and %lld columns %s",
                                   static_cast<long long>(others), static_cast<long long>(columns),
                                   what);
  };
  for (int64_t extent : {depth, valueDepth, others, columns})
    if (extent < 1 || extent % WarpProduct::kAlignment != 0)
      return failed("has incomplete matrices");
  if (kept < 0 || kept > static_cast<int64_t>(getOwnDepths().size()))
    return failed("keeps operands that are not there");
  if (getSharedBytes() > kMostBytes)
    return failed("does not fit shared memory");
  if (countRegisters() > getMostRegisters())
    return failed("does not fit registers");
  return llvm::Error::success();
}

// Writes a product as tiles of blocks of threads.

#include "targets/CUDA/Ops/BlockProduct.h"

#include "targets/Loops/Combiner.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Values = LoopEmitter::Values;

/// Threads of a block, along each dimension of the tile.
static const int64_t kSide = 16;
/// Elements along the depth that are in shared memory at a time.
static const int64_t kSlice = 16;
/// Between rows of a slice: neighbours along the depth lie in different banks.
static const int64_t kPadding = 1;
/// Blocks that keep a device busy.
static const int64_t kEnoughBlocks = 128;

bool BlockProduct::pays(Type elementType, int64_t rows, int64_t columns, int64_t depth) {
  return isa<FloatType>(elementType) && rows >= kSide && columns >= kSide && depth >= kSlice / 2;
}

int64_t BlockProduct::countTiles(int64_t tileRows, int64_t tileColumns) const {
  return batches * llvm::divideCeil(rows, tileRows) * llvm::divideCeil(columns, tileColumns);
}

// The more elements a thread has, the fewer times a factor is read; but first
// every multiprocessor needs a block.
std::pair<int64_t, int64_t> BlockProduct::getThreadTile() const {
  auto fitting = [](int64_t extent) -> int64_t {
    return extent > 4 * kSide ? 8 : extent > 2 * kSide ? 4 : 2;
  };
  std::pair<int64_t, int64_t> tile{fitting(rows), fitting(columns)};
  while (countTiles(tile.first * kSide, tile.second * kSide) < kEnoughBlocks &&
         std::max(tile.first, tile.second) > 2)
    (tile.first >= tile.second ? tile.first : tile.second) /= 2;
  return tile;
}

TileGrid BlockProduct::getGrid() const {
  auto [high, wide] = getThreadTile();
  return {countTiles(high * kSide, wide * kSide), kSide * kSide};
}

namespace {
/// A slice of a factor in shared memory: `extent` rows or columns, for kSlice
/// places along the depth.
struct Slice {
  GridEmitter &e;
  Type type;
  int64_t extent;
  Value memory;

  Slice(GridEmitter &e, Type type, int64_t extent)
      : e(e), type(type), extent(extent),
        memory(e.allocateShared(kSlice * (extent + kPadding) * type.getIntOrFloatBitWidth() / 8)) {}

  LoopEmitter::Index placeOf(LoopEmitter::Index k, LoopEmitter::Index i) const {
    return k * (extent + kPadding) + i;
  }

  /// Fills it, all threads of the block together.
  void fill(bool depthIsInner,
            function_ref<Value(LoopEmitter::Index k, LoopEmitter::Index i)> element) {
    SmallVector<int64_t> shape{kSlice, extent};
    if (depthIsInner)
      std::swap(shape[0], shape[1]);
    e.forEach(shape, [&](ArrayRef<LoopEmitter::Index> at) {
      LoopEmitter::Index k = at[depthIsInner ? 1 : 0], i = at[depthIsInner ? 0 : 1];
      e.storeAt(memory, element(k, i), placeOf(k, i));
    });
  }
};
} // namespace

void BlockProduct::emit(GridEmitter &e, ReadA readA, ReadB readB, Take take) const {
  auto [high, wide] = getThreadTile();
  const int64_t tileRows = high * kSide, tileColumns = wide * kSide;
  const int64_t rowTiles = llvm::divideCeil(rows, tileRows),
                columnTiles = llvm::divideCeil(columns, tileColumns);
  Combiner combiner(e, ReduceKind::sum, elementType);
  const Value zero = combiner.identity();
  Slice sliceA(e, zero.getType(), tileRows), sliceB(e, zero.getType(), tileColumns);
  e.forEachBlock({batches, rowTiles, columnTiles}, [&](ArrayRef<Index> tile, Index thread) {
    const Index batch = tile[0], firstRow = tile[1] * tileRows, firstColumn = tile[2] * tileColumns;
    const Index threadRow = e.floorDiv(thread, kSide), threadColumn = e.mod(thread, kSide);
    // What lies outside of a factor adds nothing.
    auto inside = [&](Index i, int64_t extent, Index k, function_ref<Value(Index, Index)> read) {
      Value place = e.materialize(i), depthPlace = e.materialize(k);
      Value isThere = e.both(e.inRange(i, 0, extent), e.inRange(k, 0, depth));
      return e.branch(
          isThere,
          [&] {
            return combiner.widen(
                read(e.bind(place, 0, extent - 1), e.bind(depthPlace, 0, depth - 1)));
          },
          [&] { return zero; });
    };
    auto addSlice = [&](ArrayRef<Index> step, ValueRange sums) {
      const Index first = step[0] * kSlice;
      sliceA.fill(depthIsInnerOfA, [&](Index k, Index i) {
        return inside(firstRow + i, rows, first + k,
                      [&](Index row, Index place) { return readA(batch, row, place); });
      });
      sliceB.fill(depthIsInnerOfB, [&](Index k, Index i) {
        return inside(firstColumn + i, columns, first + k,
                      [&](Index column, Index place) { return readB(batch, place, column); });
      });
      e.meet();
      Values added =
          e.loop(kSlice, sums, [&, high = high, wide = wide](Index k, ValueRange carried) {
            Values left, right, next;
            for (int64_t i = 0; i < high; ++i)
              left.push_back(e.loadAt(sliceA.memory, zero.getType(),
                                      sliceA.placeOf(k, threadRow + i * kSide)));
            for (int64_t j = 0; j < wide; ++j)
              right.push_back(e.loadAt(sliceB.memory, zero.getType(),
                                       sliceB.placeOf(k, threadColumn + j * kSide)));
            for (auto [number, sum] : llvm::enumerate(carried))
              next.push_back(
                  combiner.accumulateProduct(sum, left[number / wide], right[number % wide]));
            return next;
          });
      // The next slice may go there.
      e.meet();
      return added;
    };
    SmallVector<Value> none(static_cast<size_t>(high * wide), zero);
    Values sums = e.loop({static_cast<int64_t>(llvm::divideCeil(depth, kSlice))}, none, addSlice);
    for (auto [number, sum] : llvm::enumerate(sums)) {
      const int64_t at = static_cast<int64_t>(number);
      const Index row = firstRow + threadRow + at / wide * kSide,
                  column = firstColumn + threadColumn + at % wide * kSide;
      Value rowPlace = e.materialize(row), columnPlace = e.materialize(column),
            element = combiner.narrow(sum);
      e.alone(e.both(e.inRange(row, 0, rows), e.inRange(column, 0, columns)), [&] {
        take(batch, e.bind(rowPlace, 0, rows - 1), e.bind(columnPlace, 0, columns - 1), element);
      });
    }
  });
}

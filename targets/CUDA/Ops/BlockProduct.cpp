// Emits a product as tiles, with one tile per block of threads.

#include "targets/CUDA/Ops/BlockProduct.h"

#include "dialects/NN/IR/SumTypes.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

/// The number of blocks that keep a device busy.
static const int64_t kEnoughBlocks = 128;
/// A sum is split over blocks only if each block gets at least this many elements
/// along the depth.
static const int64_t kLongDepth = 256;
/// With fewer elements along the depth, most elements of a slice would be zeros.
static const int64_t kLeastDepth = 8;

bool BlockProduct::pays() const {
  return isa<FloatType>(types.factor) && batches > 0 && rows >= TileShape::kSide &&
         columns >= TileShape::kSide && depth >= kLeastDepth;
}

int64_t BlockProduct::countTiles(int64_t tileRows, int64_t tileColumns) const {
  return batches * llvm::divideCeil(rows, tileRows) * llvm::divideCeil(columns, tileColumns);
}

// The more elements of C a thread computes, the less often factors are read. But it is more
// important that every multiprocessor has a block. To get enough blocks, the function first splits
// long sums over blocks. If there are still too few blocks, it makes tiles smaller. It only halves
// tiles if the halves get multiprocessors of their own. Otherwise some multiprocessors would have
// two of them, which takes longer than a whole tile. Units that multiply narrow factors are done
// with a slice of 64 x 128 sums before the next slice is there, so halves of such a tile would take
// as long, and read factors twice.
BlockProduct::Division BlockProduct::divide(bool mayDivide, TileUnit unit) const {
  auto fitting = [](int64_t extent) -> int64_t {
    return extent > 4 * TileShape::kSide ? 8 : extent > 2 * TileShape::kSide ? 4 : 2;
  };
  Division division{fitting(rows), fitting(columns), 1};
  const int64_t most = mayDivide ? std::max<int64_t>(1, depth / kLongDepth) : 1;
  auto tilesOf = [&] {
    return countTiles(division.high * TileShape::kSide, division.wide * TileShape::kSide);
  };
  // In tf32, conditions of pieces at the edge would need more registers than small blocks have.
  const bool hasEdges = rows % (4 * TileShape::kSide) != 0 || columns % (4 * TileShape::kSide) != 0,
             waits = most == 1 && depth >= kLongDepth && hasChunks() &&
                     (unit == TileUnit::halves || (unit == TileUnit::tf32 && !hasEdges));
  const int64_t least = waits ? 32 : 4;
  while (2 * tilesOf() * most <= kEnoughBlocks && division.high * division.wide > least)
    (division.high >= division.wide ? division.high : division.wide) /= 2;
  division.parts = std::min(most, static_cast<int64_t>(llvm::divideCeil(kEnoughBlocks, tilesOf())));
  return division;
}

bool BlockProduct::hasChunks() const {
  const int64_t bytes = types.factor.getIntOrFloatBitWidth() / 8,
                chunk = std::max<int64_t>(1, SliceLayout::kChunk / bytes);
  return std::min(runOfA, runOfB) > 0 && runOfA % chunk == 0 && runOfB % chunk == 0;
}

TileShape BlockProduct::shapeOf(const Division &division, TileUnit unit) const {
  return hasChunks() && !hasPatches ? TileShape::ofBlock(types, unit, division.high, division.wide)
                                    : TileShape::of(types, unit, division.high, division.wide);
}

SmallVector<TileGrid> BlockProduct::getGrids(const GridOptions &options) const {
  const TileUnit unit = TileShape::unitFor(types, options.keepsOrder, options.factors);
  const Division division = divide(options.mayDivide, unit);
  const TileShape shape = shapeOf(division, unit);
  SmallVector<TileGrid> grids{{countTiles(shape.getRows(), shape.getColumns()) * division.parts,
                               shape.getThreads(), shape.countResidentBlocks()}};
  if (division.parts > 1)
    grids.push_back(
        {static_cast<int64_t>(llvm::divideCeil(batches * rows * columns, LaunchPlan::kMaxThreads)),
         LaunchPlan::kMaxThreads});
  return grids;
}

int64_t BlockProduct::getScratchBytes() const {
  return divide(/*mayDivide=*/true, TileUnit::scalar).parts * batches * rows * columns *
         accumulatorType(types.result).getIntOrFloatBitWidth() / 8;
}

int64_t BlockProduct::countFinalElements(LaunchPhase phase) const {
  // No unit has smaller tiles.
  const Division division = divide(phase.count > 1, TileUnit::scalar);
  return phase.number > 0 ? 1 : division.high * division.wide;
}

void BlockProduct::emit(GridEmitter &e, LaunchPhase phase, ElementOf elementOfA,
                        ElementOf elementOfB, Take take) const {
  const TileUnit unit = TileShape::unitFor(types, e.orderedSums, e.factors);
  const Division division = divide(phase.count > 1, unit);
  if (phase.number > 0)
    return addParts(e, division.parts, take);
  const TileShape tileShape = shapeOf(division, unit);
  // A thread of a small block keeps more pieces, and has no registers for their conditions.
  const bool isWhole = rows % tileShape.getRows() == 0 && columns % tileShape.getColumns() == 0,
             mayKeep = !hasPositions && (isWhole || tileShape.getThreads() == TileShape::kThreads);
  TileProduct tile(e, types, tileShape,
                   {depthIsInnerOfA, depthIsInnerOfB, /*isRoundedA=*/hasChunks() && mayKeep,
                    /*hasAnyLayoutOfA=*/true});
  const auto rowTiles = static_cast<int64_t>(llvm::divideCeil(rows, tile.getRows())),
             columnTiles = static_cast<int64_t>(llvm::divideCeil(columns, tile.getColumns()));
  // If a sum is split, each part has complete slices. The last part has the
  // remainder.
  const int64_t count =
      llvm::alignTo(llvm::divideCeil(depth, division.parts), tile.getShape().depth);
  const int64_t shape[] = {division.parts, batches, rowTiles, columnTiles};
  e.forEachBlock(shape, [&](ArrayRef<Index> at, Index thread) {
    const Index part = at[0], batch = at[1], firstRow = at[2] * tile.getRows(),
                firstColumn = at[3] * tile.getColumns();
    // `first` as code after a long loop knows it.
    auto firstAgain = [&](size_t dimension, int64_t extent) {
      return [&e, &shape, dimension, extent] {
        Index first;
        e.readBlockAgain(shape,
                         [&](ArrayRef<Index> place, Index) { first = place[dimension] * extent; });
        return first;
      };
    };
    const TileFactor a{firstRow,
                       rows,
                       depthIsInnerOfA,
                       runOfA,
                       [&](Index row, Index k) { return elementOfA(batch, row, k); },
                       /*hasOpenEnd=*/true,
                       firstAgain(2, tile.getRows())},
        b{firstColumn,
          columns,
          depthIsInnerOfB,
          runOfB,
          [&](Index column, Index k) { return elementOfB(batch, column, k); },
          /*hasOpenEnd=*/true,
          firstAgain(3, tile.getColumns())};
    const Values sums = tile.add(thread, a, b, part * count, count, depth, tile.getZeros());
    e.readBlockAgain(shape, [&](ArrayRef<Index> place, Index reader) {
      store(e, tile, division.parts, place, reader, sums, take);
    });
  });
}

/// Gives the sums of a tile to `take`, or stores them as partial sums.
void BlockProduct::store(GridEmitter &e, TileProduct &tile, int64_t parts, ArrayRef<Index> at,
                         Index thread, ValueRange sums, Take take) const {
  const Index part = at[0], batch = at[1], firstRow = at[2] * tile.getRows(),
              firstColumn = at[3] * tile.getColumns();
  // Uses a piece whose column is a multiple of `length`.
  auto use = [&](Index row, Index column, int64_t length, ValueRange piece) {
    // Addresses of rows that are all there differ by constants.
    const bool hasAllRows = e.isInRange(row, 0, rows);
    Value rowPlace = hasAllRows ? Value() : e.materialize(row),
          piecePlace = e.materialize(IndexSpace::exactQuotient(column, length));
    e.alone(e.both(e.inRange(row, 0, rows), e.inRange(column, 0, columns)), [&] {
      const Index own = hasAllRows ? row : e.bind(rowPlace, 0, rows - 1),
                  ownColumn = e.bind(piecePlace, 0, columns / length - 1) * length;
      if (parts == 1)
        return take(batch, own, ownColumn, tile.narrow(piece));
      for (auto [n, sum] : llvm::enumerate(piece))
        e.storeAt(e.phaseScratch, sum,
                  ((part * batches + batch) * rows + own) * columns + ownColumn +
                      static_cast<int64_t>(n));
    });
  };
  tile.forEachPiece(thread, sums, [&](Index rowInTile, Index columnInTile, ValueRange piece) {
    const Index row = firstRow + rowInTile, column = firstColumn + columnInTile;
    const auto length = static_cast<int64_t>(piece.size());
    // Neighbours that are all there or none are used together.
    const int64_t together = std::gcd(columns, length);
    for (int64_t n = 0; n < length; n += together)
      use(row, column + n, together,
          piece.slice(static_cast<size_t>(n), static_cast<size_t>(together)));
  });
}

/// Emits the second launch, which adds the partial sums of each element in order.
void BlockProduct::addParts(GridEmitter &e, int64_t parts, Take take) const {
  Combiner combiner(e, ReduceKind::sum, types.factor, types.result);
  const Value zero = combiner.identity();
  e.forEach({batches, rows, columns}, [&](ArrayRef<Index> at) {
    Values sum = e.loop(parts, zero, [&](Index part, ValueRange carried) {
      Value more = e.loadAt(e.phaseScratch, zero.getType(),
                            ((part * batches + at[0]) * rows + at[1]) * columns + at[2]);
      return Values{combiner.combine(carried[0], more)};
    });
    take(at[0], at[1], at[2], combiner.narrow(sum[0]));
  });
}

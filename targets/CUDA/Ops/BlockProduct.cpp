// Emits a product as tiles, with one tile per block of threads.

#include "targets/CUDA/Ops/BlockProduct.h"

#include "dialects/NN/IR/SumTypes.h"

#include "llvm/Support/MathExtras.h"

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

// The more elements of C a thread computes, the less often factors are read. But it
// is more important that every multiprocessor has a block. To get enough blocks,
// the function first splits long sums over blocks. If there are still too few
// blocks, it makes tiles smaller.
BlockProduct::Division BlockProduct::divide(bool mayDivide) const {
  auto fitting = [](int64_t extent) -> int64_t {
    return extent > 4 * TileShape::kSide ? 8 : extent > 2 * TileShape::kSide ? 4 : 2;
  };
  Division division{fitting(rows), fitting(columns), 1};
  const int64_t most = mayDivide ? std::max<int64_t>(1, depth / kLongDepth) : 1;
  auto tilesOf = [&] {
    return countTiles(division.high * TileShape::kSide, division.wide * TileShape::kSide);
  };
  while (tilesOf() * most < kEnoughBlocks && std::max(division.high, division.wide) > 2)
    (division.high >= division.wide ? division.high : division.wide) /= 2;
  division.parts = std::min(most, static_cast<int64_t>(llvm::divideCeil(kEnoughBlocks, tilesOf())));
  return division;
}

SmallVector<TileGrid> BlockProduct::getGrids(const GridOptions &options) const {
  const Division division = divide(options.mayDivide);
  const TileUnit unit = TileShape::unitFor(types, options.keepsOrder, options.factors);
  const int64_t tiles =
      countTiles(division.high * TileShape::kSide, division.wide * TileShape::kSide);
  TileGrid grid{tiles * division.parts, TileShape::kThreads};
  // While a block waits for a barrier, another one multiplies. Split factors need the registers of
  // both.
  if (unit == TileUnit::halves || unit == TileUnit::tf32)
    grid.residentBlocks = 2;
  SmallVector<TileGrid> grids{grid};
  if (division.parts > 1)
    grids.push_back(
        {static_cast<int64_t>(llvm::divideCeil(batches * rows * columns, LaunchPlan::kMaxThreads)),
         LaunchPlan::kMaxThreads});
  return grids;
}

int64_t BlockProduct::getScratchBytes() const {
  return divide(/*mayDivide=*/true).parts * batches * rows * columns *
         accumulatorType(types.result).getIntOrFloatBitWidth() / 8;
}

int64_t BlockProduct::countFinalElements(LaunchPhase phase) const {
  const Division division = divide(phase.count > 1);
  return phase.number > 0 ? 1 : division.high * division.wide;
}

void BlockProduct::emit(GridEmitter &e, LaunchPhase phase, ElementOf elementOfA,
                        ElementOf elementOfB, Take take) const {
  const Division division = divide(phase.count > 1);
  if (phase.number > 0)
    return addParts(e, division.parts, take);
  TileProduct tile(e, types, division.high, division.wide);
  const auto rowTiles = static_cast<int64_t>(llvm::divideCeil(rows, tile.getRows())),
             columnTiles = static_cast<int64_t>(llvm::divideCeil(columns, tile.getColumns()));
  // If a sum is split, each part has complete slices. The last part has the
  // remainder.
  const int64_t count =
      llvm::alignTo(llvm::divideCeil(depth, division.parts), tile.getShape().depth);
  e.forEachBlock(
      {division.parts, batches, rowTiles, columnTiles}, [&](ArrayRef<Index> at, Index thread) {
        const Index part = at[0], batch = at[1], firstRow = at[2] * tile.getRows(),
                    firstColumn = at[3] * tile.getColumns();
        const TileFactor a{firstRow, rows, depthIsInnerOfA, runOfA,
                           [&](Index row, Index k) { return elementOfA(batch, row, k); }},
            b{firstColumn, columns, depthIsInnerOfB, runOfB,
              [&](Index column, Index k) { return elementOfB(batch, column, k); }};
        Values sums = tile.add(thread, a, b, part * count, count, depth, tile.getZeros());
        // Uses a piece whose column is a multiple of `length`.
        auto use = [&](Index row, Index column, int64_t length, ValueRange piece) {
          Value rowPlace = e.materialize(row),
                piecePlace = e.materialize(IndexSpace::exactQuotient(column, length));
          e.alone(e.both(e.inRange(row, 0, rows), e.inRange(column, 0, columns)), [&] {
            const Index own = e.bind(rowPlace, 0, rows - 1),
                        ownColumn = e.bind(piecePlace, 0, columns / length - 1) * length;
            if (division.parts == 1)
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
          if (columns % length == 0)
            return use(row, column, length, piece);
          for (auto [n, sum] : llvm::enumerate(piece))
            use(row, column + static_cast<int64_t>(n), 1, sum);
        });
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

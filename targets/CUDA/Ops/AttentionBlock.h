#ifndef DPC_TARGETS_CUDA_OPS_ATTENTIONBLOCK_H
#define DPC_TARGETS_CUDA_OPS_ATTENTIONBLOCK_H

#include "dialects/NN/IR/AttentionShape.h"
#include "targets/CUDA/Grids/GridFill.h"
#include "targets/CUDA/Ops/TileProduct.h"

namespace dpc::nn {

/// What a block of threads does in an attention and in its gradient: tiles of
/// scores in registers and in shared memory, which are multiplied with rows of an
/// operand, a tile of its columns at a time. Source: Dao, "FlashAttention-2:
/// Faster Attention with Better Parallelism and Work Partitioning", 2023.
class AttentionBlock {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  AttentionBlock(GridEmitter &emitter, const AttentionShape &shape, mlir::Type elementType,
                 mlir::Value mask, llvm::ArrayRef<int64_t> maskDimensions, double scale);

  /// Queries and keys of a tile: what fits shared memory.
  static int64_t tileOf(mlir::Type elementType) { return elementType.isF64() ? 32 : 64; }
  /// Columns of an operand of `elements` that a block takes, and how often.
  static int64_t columnsOf(mlir::Type elementType, int64_t elements);
  static int64_t countColumns(mlir::Type elementType, int64_t elements);
  /// Blocks that take `rows` rows with `columnTiles` tiles of columns each.
  static TileGrid gridOf(const AttentionShape &shape, mlir::Type elementType, int64_t rows,
                         int64_t columnTiles);
  /// Whether there is enough to do for a block, and on types that it has code for:
  /// 16-bit floats, and what is summed of them, take core ops.
  static bool pays(mlir::Operation *op, const AttentionShape &shape);

  /// `body` for the batch element, tile of rows and tile of columns of this block.
  void forEachBlock(int64_t rows, int64_t columnTiles,
                    llvm::function_ref<void(Index rowTile, Index columnTile, Index thread)> body);

  /// Behind the last tile of keys that queries from `first` on see, and the first
  /// tile of queries that see keys from `first` on.
  mlir::Value endOfKeys(Index first);
  mlir::Value firstOfQueries(Index first);

  /// An element of an operand, and its number in a result of that shape.
  mlir::Value read(mlir::Value operand, Index row, Index element);
  Index numberIn(mlir::Value result, Index row, Index element);
  /// An element of a tensor of [batch, queries].
  mlir::Value readOfQuery(mlir::Value tensor, Index query);
  Index numberOfQuery(Index query) const { return batch * shape.queries + query; }

  /// Rows of an operand from `first` on, as a factor whose depth is elements; and
  /// its elements, as a factor whose depth is rows.
  TileProduct::Factor rowsOf(mlir::Value operand, Index first, int64_t rows);
  TileProduct::Factor columnsOf(mlir::Value operand, Index first, int64_t elements);
  /// The products of rows of `depth` elements: a tile of `products`.
  LoopEmitter::Values multiply(Index thread, const TileProduct::Factor &left,
                               const TileProduct::Factor &right, int64_t depth) {
    return products.add(thread, left, right, e.constant(0), depth, depth, products.getZeros());
  }

  /// The score of a query and a key, made of their product: -infinity where the
  /// key is not seen. Both lie in tiles, which may reach beyond the last.
  mlir::Value score(mlir::Value product, Index query, Index key);
  /// i1: whether an index of a tile is one of `count`; null: always.
  mlir::Value isThere(Index index, int64_t count) { return e.inRange(index, 0, count); }
  /// Such an index where it is one.
  Index bound(Index index, int64_t count);

  // Arithmetic on elements.
  mlir::Value number(double value) { return e.constantLike(elementType, value); }
  mlir::Value exponential(mlir::Value x);
  mlir::Value isNan(mlir::Value x);
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no);
  mlir::Value larger(mlir::Value x, mlir::Value y);

  GridEmitter &e;
  const AttentionShape &shape;
  const mlir::Type elementType;
  const int64_t tile;
  /// Products of rows with rows: tiles of scores.
  TileProduct products;
  /// What is made of a tile of scores, where the whole block reads it: its depth
  /// is what sums are taken over.
  Slice weights;
  /// A number for each row of the tile.
  mlir::Value rowNumbers;
  Index batch;

private:
  llvm::SmallVector<Index> positionsIn(mlir::Value operand, Index row, Index element);

  mlir::Value mask;
  llvm::ArrayRef<int64_t> maskDimensions;
  const double scale;
};

} // namespace dpc::nn

#endif // DPC_TARGETS_CUDA_OPS_ATTENTIONBLOCK_H

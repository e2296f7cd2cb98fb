#ifndef DPC_TARGETS_CUDA_OPS_ATTENTIONBLOCK_H
#define DPC_TARGETS_CUDA_OPS_ATTENTIONBLOCK_H

#include "dialects/NN/IR/AttentionShape.h"
#include "targets/CUDA/Grids/GridFill.h"
#include "targets/CUDA/Ops/TileProduct.h"

namespace dpc::nn {

/// The work of a block of threads in an attention and in its gradient. It makes
/// tiles of scores in registers and in shared memory, and multiplies them with rows
/// of an operand, one tile of the operand's columns at a time. Source: Dao,
/// "FlashAttention-2: Faster Attention with Better Parallelism and Work
/// Partitioning", 2023.
class AttentionBlock {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  AttentionBlock(GridEmitter &emitter, const AttentionShape &shape, mlir::Type elementType,
                 mlir::Value mask, llvm::ArrayRef<int64_t> maskDimensions, double scale);

  /// Number of queries and of keys in a tile: the largest that fits shared memory.
  static int64_t tileOf(mlir::Type elementType) { return elementType.isF64() ? 32 : 64; }
  /// For an operand with rows of `elements`: the columns of a tile, and the number
  /// of such tiles.
  static int64_t columnsOf(mlir::Type elementType, int64_t elements);
  static int64_t countColumns(mlir::Type elementType, int64_t elements);
  /// The grid for `rows` rows with `columnTiles` tiles of columns each.
  static TileGrid gridOf(const AttentionShape &shape, mlir::Type elementType, int64_t rows,
                         int64_t columnTiles);
  /// Whether a block has enough work, and whether it has code for the types: 16-bit
  /// floats and their sums use the decomposition instead.
  static bool pays(mlir::Operation *op, const AttentionShape &shape);

  /// Calls `body` with the tile of rows and the tile of columns of this block; sets
  /// `batch`.
  void forEachBlock(int64_t rows, int64_t columnTiles,
                    llvm::function_ref<void(Index rowTile, Index columnTile, Index thread)> body);

  /// The end of the tiles of keys that queries from `first` on see, and the first
  /// tile of queries that see keys from `first` on.
  mlir::Value endOfKeys(Index first);
  mlir::Value firstOfQueries(Index first);

  /// An element of an operand, and the linear index of an element in a result.
  mlir::Value read(mlir::Value operand, Index row, Index element);
  Index numberIn(mlir::Value result, Index row, Index element);
  /// An element of a tensor of shape [batch, queries].
  mlir::Value readOfQuery(mlir::Value tensor, Index query);
  Index numberOfQuery(Index query) const { return batch * shape.queries + query; }

  /// The rows of an operand from `first` on, as a factor whose depth is the
  /// elements of a row; and its columns from `first` on, as a factor whose depth is
  /// rows.
  TileProduct::Factor rowsOf(mlir::Value operand, Index first, int64_t rows);
  TileProduct::Factor columnsOf(mlir::Value operand, Index first, int64_t elements);
  /// The products of rows of `depth` elements with each other: a tile of
  /// `products`.
  LoopEmitter::Values multiply(Index thread, const TileProduct::Factor &left,
                               const TileProduct::Factor &right, int64_t depth) {
    return products.add(thread, left, right, e.constant(0), depth, depth, products.getZeros());
  }

  /// The score of a query and a key, from the product of their rows; -infinity if
  /// the query does not see the key. Both indices may be past the last query or
  /// key, at the end of a tile.
  mlir::Value score(mlir::Value product, Index query, Index key);
  /// i1: whether an index of a tile is below `count`; null if it always is.
  mlir::Value isThere(Index index, int64_t count) { return e.inRange(index, 0, count); }
  /// Such an index, marked as one below `count`.
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
  /// Products of rows with rows, which give tiles of scores.
  TileProduct products;
  /// Weights computed from a tile of scores, in shared memory for the entire block.
  /// The depth of the slice is the dimension that sums are taken over.
  Slice weights;
  /// Shared memory with one number per row of the tile.
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

#ifndef DPC_TARGETS_CUDA_OPS_ATTENTIONBLOCK_H
#define DPC_TARGETS_CUDA_OPS_ATTENTIONBLOCK_H

#include "targets/CUDA/Ops/AttentionOperands.h"
#include "targets/CUDA/Ops/TileProduct.h"

namespace dpc {

/// The work of one block of threads, for kernels of attention and of its gradient whose scores pass
/// through shared memory. A block computes tiles of scores in registers, and stores weights derived
/// from them in shared memory. It multiplies the weights by rows of an operand, for one tile of the
/// operand's columns. Source: Dao, "FlashAttention-2: Faster Attention with Better Parallelism and
/// Work Partitioning", 2023.
class AttentionBlock : public AttentionOperands {
public:
  AttentionBlock(GridEmitter &emitter, const nn::AttentionShape &shape, mlir::Type factorType,
                 mlir::Value mask, llvm::ArrayRef<int64_t> maskDimensions, double scale);

  /// The number of queries and of keys in a tile of scores: the largest power of two with
  /// which all tiles of a block fit shared memory.
  static int64_t tileOf(mlir::Type elementType) { return elementType.isF64() ? 32 : 64; }
  /// The shape of a tile of products with one stage.
  static TileShape shapeOf(const GridEmitter &emitter, ProductTypes types, int64_t rows,
                           int64_t columns);
  /// For an operand with rows of `elements` elements: the number of columns in a
  /// tile, and the number of tiles per row.
  static int64_t widthOf(mlir::Type elementType, int64_t elements);
  static int64_t countColumns(mlir::Type elementType, int64_t elements);
  /// The grid for results with `rows` rows and `columnTiles` tiles of columns.
  static TileGrid gridOf(const nn::AttentionShape &shape, mlir::Type elementType, int64_t rows,
                         int64_t columnTiles);
  /// Whether the rule is faster than the decomposition of the op. A block must have
  /// enough work. `factors` are the operands that products multiply; they must have one type.
  static bool pays(mlir::Operation *op, const nn::AttentionShape &shape, mlir::ValueRange factors);

  /// Emits `body` for the tile of rows and the tile of columns of this block. Sets
  /// `batch` to the number of its batch element.
  void forEachBlock(int64_t rows, int64_t columnTiles,
                    llvm::function_ref<void(Index rowTile, Index columnTile, Index thread)> body);

  /// One tile of products, each of a row of `left` and a row of `right`. All rows
  /// have `depth` elements.
  LoopEmitter::Values multiply(Index thread, const TileFactor &left, const TileFactor &right,
                               int64_t depth) {
    return products.add(thread, left, right, e.constant(0), depth, depth, products.getZeros());
  }

  /// A tile of `result` with `columns` columns: products of weights and rows of an operand.
  TileProduct tileOfResult(mlir::Value result, int64_t columns) const;
  /// Stores a weight in the form in which `results` multiplies it.
  void storeWeight(TileProduct &results, mlir::Value weight, Index k, Index i);

  const int64_t tile;
  /// Computes products of rows with rows, from which scores are computed.
  TileProduct products;
  /// The tile of scores, and the weights that the block computes from it, in shared memory. The
  /// depth of the slices is the dimension over which the results sum. If the operands have 16
  /// bits, so have the weights; otherwise both slices are the same.
  Slice scores, weights;
  /// Shared memory with one number per row of a tile.
  mlir::Value rowNumbers;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_ATTENTIONBLOCK_H

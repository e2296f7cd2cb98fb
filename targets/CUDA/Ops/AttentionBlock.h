#ifndef DPC_TARGETS_CUDA_OPS_ATTENTIONBLOCK_H
#define DPC_TARGETS_CUDA_OPS_ATTENTIONBLOCK_H

#include "dialects/NN/IR/AttentionShape.h"
#include "targets/CUDA/Grids/GridFill.h"
#include "targets/CUDA/Ops/TileProduct.h"

namespace dpc {

/// Code that the kernels of attention and of its gradient share: the work of one
/// block of threads. A block computes tiles of scores in registers, and stores
/// weights derived from them in shared memory. It multiplies the weights by rows of
/// an operand, for one tile of the operand's columns. Source: Dao,
/// "FlashAttention-2: Faster Attention with Better Parallelism and Work
/// Partitioning", 2023.
class AttentionBlock {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  AttentionBlock(GridEmitter &emitter, const nn::AttentionShape &shape, mlir::Type factorType,
                 mlir::Value mask, llvm::ArrayRef<int64_t> maskDimensions, double scale);

  /// The number of queries and of keys in a tile of scores: the largest power of two with
  /// which all tiles of a block fit shared memory.
  static int64_t tileOf(mlir::Type elementType) { return elementType.isF64() ? 32 : 64; }
  /// For an operand with rows of `elements` elements: the number of columns in a
  /// tile, and the number of tiles per row.
  static int64_t columnsOf(mlir::Type elementType, int64_t elements);
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

  /// `endOfKeys` returns the end of the tiles of keys that a tile of queries sees,
  /// where `first` is the first query of this tile. `firstOfQueries` returns the first
  /// tile of queries in which a query sees a key of a tile of keys, where `first` is
  /// the first key of that tile of keys.
  mlir::Value endOfKeys(Index first);
  mlir::Value firstOfQueries(Index first);

  /// `elementOf` returns the index of an element of an operand. `numberIn` returns the
  /// row-major number of an element in a result.
  FactorElement elementOf(mlir::Value operand, Index row, Index element);
  Index numberIn(mlir::Value result, Index row, Index element);
  /// `readOfQuery` reads the element of a query in a tensor of shape [batch..,
  /// queries]. `numberOfQuery` returns its row-major number.
  mlir::Value readOfQuery(mlir::Value tensor, Index query);
  Index numberOfQuery(Index query) const { return batch * shape.queries + query; }

  /// An operand as a factor of a product. rowsOf: its rows from `first` on are the
  /// rows of the factor, and the elements of a row are the depth. columnsOf: its
  /// columns from `first` on are the columns of the factor, and its rows are the
  /// depth.
  TileFactor rowsOf(mlir::Value operand, Index first, int64_t rows);
  TileFactor columnsOf(mlir::Value operand, Index first, int64_t elements);
  /// One tile of products, each of a row of `left` and a row of `right`. All rows
  /// have `depth` elements.
  LoopEmitter::Values multiply(Index thread, const TileFactor &left, const TileFactor &right,
                               int64_t depth) {
    return products.add(thread, left, right, e.constant(0), depth, depth, products.getZeros());
  }

  /// The score of a query and a key, computed from the product of their rows. It is
  /// -infinity if the query does not see the key. `query` and `key` may be after
  /// the last query or key, because the last tile may be incomplete.
  mlir::Value score(mlir::Value product, Index query, Index key);
  /// Whether an index is below `count`, as an i1; null if it always is.
  mlir::Value isThere(Index index, int64_t count) { return e.inRange(index, 0, count); }
  /// `index` as a variable with the range [0, count). The code around must ensure
  /// that it is in this range.
  Index bound(Index index, int64_t count);

  /// Stores a weight in the form in which `results` multiplies it.
  void storeWeight(TileProduct &results, mlir::Value weight, Index k, Index i);

  // Arithmetic on elements.
  mlir::Value number(double value) { return e.constantLike(elementType, value); }
  mlir::Value exponential(mlir::Value x);
  mlir::Value isNan(mlir::Value x);
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no);
  mlir::Value larger(mlir::Value x, mlir::Value y);

  GridEmitter &e;
  const nn::AttentionShape &shape;
  /// The type of the operands of products, and the type of scores, sums and numbers per query:
  /// f32 if the operands have 16 bits.
  const mlir::Type factorType, elementType;
  const int64_t tile;
  /// Computes products of rows with rows, from which scores are computed.
  TileProduct products;
  /// The tile of scores, and the weights that the block computes from it, in shared memory. The
  /// depth of the slices is the dimension over which the results sum. If the operands have 16
  /// bits, so have the weights; otherwise both slices are the same.
  Slice scores, weights;
  /// Shared memory with one number per row of a tile.
  mlir::Value rowNumbers;
  Index batch;

private:
  /// An element of type `factorType` or `elementType` in the type `elementType`.
  mlir::Value widened(mlir::Value element);
  llvm::SmallVector<Index> positionsIn(mlir::Value operand, Index row, Index element);

  mlir::Value mask;
  llvm::ArrayRef<int64_t> maskDimensions;
  const double scale;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_ATTENTIONBLOCK_H

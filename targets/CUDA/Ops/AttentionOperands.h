#ifndef DPC_TARGETS_CUDA_OPS_ATTENTIONOPERANDS_H
#define DPC_TARGETS_CUDA_OPS_ATTENTIONOPERANDS_H

#include "dialects/NN/IR/AttentionShape.h"
#include "targets/CUDA/Grids/GridFill.h"
#include "targets/CUDA/Ops/SliceFill.h"

namespace dpc {

/// Code that all kernels of attention and of its gradient share: accesses to operands and
/// results, scores, and arithmetic on elements.
class AttentionOperands {
public:
  using Index = LoopEmitter::Index;
  using Values = LoopEmitter::Values;

  AttentionOperands(GridEmitter &emitter, const nn::AttentionShape &shape, mlir::Type factorType,
                    mlir::Value mask, llvm::ArrayRef<int64_t> maskDimensions, double scale);

  /// `endOfKeys` returns the end of the tiles of keys that a tile of queries sees,
  /// where `first` is the first query of this tile. `firstOfQueries` returns the first
  /// tile of queries in which a query sees a key of a tile of keys, where `first` is
  /// the first key of that tile of keys.
  /// Tiles have `ownRows` own rows, and loops have tiles of `otherRows` rows.
  mlir::Value endOfKeys(Index first, int64_t ownRows, int64_t otherRows);
  mlir::Value firstOfQueries(Index first, int64_t otherRows);

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
  /// The score of a query and a key, computed from the product of their rows. It is
  /// -infinity if the query does not see the key. `query` and `key` may be after
  /// the last query or key, because the last tile may be incomplete.
  mlir::Value score(mlir::Value product, Index query, Index key);
  /// Whether an index is below `count`, as an i1; null if it always is.
  mlir::Value isThere(Index index, int64_t count) { return e.inRange(index, 0, count); }
  /// `index` as a variable with the range [0, count). The code around must ensure
  /// that it is in this range.
  Index bound(Index index, int64_t count);

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
  Index batch;

protected:
  /// An element of type `factorType` or `elementType` in the type `elementType`.
  mlir::Value widened(mlir::Value element);
  llvm::SmallVector<Index> positionsIn(mlir::Value operand, Index row, Index element);

  mlir::Value mask;
  llvm::ArrayRef<int64_t> maskDimensions;
  const double scale;
};

} // namespace dpc

#endif // DPC_TARGETS_CUDA_OPS_ATTENTIONOPERANDS_H

#ifndef DPC_DIALECTS_NN_IR_ATTENTIONSHAPE_H
#define DPC_DIALECTS_NN_IR_ATTENTIONSHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace dpc::nn {

/// The extents of an attention. Its scores have dimensions [batch, queries,
/// keys]; q, k, v and the result have the batch around dimension `rows`, and
/// the elements of a row last.
struct AttentionShape {
  llvm::SmallVector<int64_t> batch;
  int64_t rows;              // dimension
  int64_t queries, keys;     // extents
  int64_t depth, valueDepth; // elements of rows of q and k, of v
  bool causal;

  AttentionShape(mlir::RankedTensorType q, mlir::RankedTensorType k, mlir::RankedTensorType v,
                 int64_t rows, bool causal);

  /// A batch dimension, by its place in `batch`, as a dimension of an operand.
  int64_t operandDim(int64_t batchDim) const { return batchDim < rows ? batchDim : batchDim + 1; }
  /// The batch dimensions of an operand.
  llvm::SmallVector<int64_t> operandBatch() const;
  int64_t rank() const { return batch.size() + 2; }
  int64_t batches() const;
  llvm::SmallVector<int64_t> scores() const;
  llvm::SmallVector<int64_t> logSumExp() const;
  /// The shape of an operand or of the result.
  llvm::SmallVector<int64_t> operand(int64_t rowCount, int64_t elements) const;
  /// Query i sees key j where j <= i + offset.
  int64_t offset() const { return keys - queries; }
  /// Pairs of a query and a key that it sees, in all of the batch.
  int64_t visiblePairs() const;
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_ATTENTIONSHAPE_H

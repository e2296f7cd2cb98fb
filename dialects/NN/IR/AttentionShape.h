#ifndef DPC_DIALECTS_NN_IR_ATTENTIONSHAPE_H
#define DPC_DIALECTS_NN_IR_ATTENTIONSHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace dpc::nn {

/// The extents of an attention. Its scores have dimensions [batch, queries, keys].
/// In q, k, v and the result, `rows` is a dimension among the batch dimensions, and
/// the elements of a row are the last dimension.
struct AttentionShape {
  llvm::SmallVector<int64_t> batch;
  int64_t rows;              // the dimension that counts rows
  int64_t queries, keys;     // extents
  int64_t depth, valueDepth; // elements in a row of q and k, and of v
  bool causal;

  AttentionShape(mlir::RankedTensorType q, mlir::RankedTensorType k, mlir::RankedTensorType v,
                 int64_t rows, bool causal);

  /// The dimension of an operand for the batch dimension with index `batchDim` in
  /// `batch`.
  int64_t operandDim(int64_t batchDim) const { return batchDim < rows ? batchDim : batchDim + 1; }
  /// The batch dimensions of an operand.
  llvm::SmallVector<int64_t> operandBatch() const;
  int64_t rank() const { return batch.size() + 2; }
  int64_t batches() const;
  llvm::SmallVector<int64_t> scores() const;
  llvm::SmallVector<int64_t> logSumExp() const;
  /// The shape of an operand or of the result.
  llvm::SmallVector<int64_t> operand(int64_t rowCount, int64_t elements) const;
  /// Query i sees key j if j <= i + offset.
  int64_t offset() const { return keys - queries; }
  /// The number of pairs of a query and a key that it sees, over the complete
  /// batch.
  int64_t visiblePairs() const;
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_ATTENTIONSHAPE_H

#ifndef DPC_DIALECTS_NN_IR_ATTENTIONSHAPE_H
#define DPC_DIALECTS_NN_IR_ATTENTIONSHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace dpc::nn {

/// The extents of an attention. Its scores have the dimensions [batch.., queries,
/// keys]. In q, k, v and the result, dimension `rows` counts queries or keys, and
/// the last dimension has the elements of a row. All other dimensions are batch
/// dimensions.
struct AttentionShape {
  llvm::SmallVector<int64_t> batch;
  int64_t rows;              // the dimension of operands that counts rows
  int64_t queries, keys;     // the numbers of queries and keys
  int64_t depth, valueDepth; // the lengths of the rows of q and k, and of v
  bool causal;

  AttentionShape(mlir::RankedTensorType q, mlir::RankedTensorType k, mlir::RankedTensorType v,
                 int64_t rows, bool causal);

  /// The dimension of an operand that is dimension `batchDim` of `batch`.
  int64_t operandDim(int64_t batchDim) const { return batchDim < rows ? batchDim : batchDim + 1; }
  /// The batch dimensions of an operand.
  llvm::SmallVector<int64_t> operandBatch() const;
  int64_t rank() const { return batch.size() + 2; }
  int64_t batches() const;
  llvm::SmallVector<int64_t> scores() const;
  llvm::SmallVector<int64_t> logSumExp() const;
  /// The shape of an operand or result with `rowCount` rows of `elements` elements.
  llvm::SmallVector<int64_t> operand(int64_t rowCount, int64_t elements) const;
  /// In a causal attention, query i sees key j if j <= i + offset().
  int64_t offset() const { return keys - queries; }
  /// The number of pairs (query, key) such that the query sees the key, over all
  /// batch elements.
  int64_t visiblePairs() const;
};

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_ATTENTIONSHAPE_H

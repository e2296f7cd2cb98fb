#ifndef DPC_PASSES_NORMALIZE_NARROWING_H
#define DPC_PASSES_NORMALIZE_NARROWING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// A small tensor whose broadcast is a larger tensor. Dimension i of `value` is dimension
/// `dimensions[i]` of the larger tensor, which is constant along its other dimensions. For example,
/// if [8, 12, 4] is a broadcast of [8, 4], `dimensions` is 0 and 2.
struct Narrow {
  mlir::Value value;
  llvm::SmallVector<int64_t> dimensions; // in increasing order
};

/// Finds, for a value, a small tensor whose broadcast it is. Looks through broadcasts, splat
/// constants, iotas with several dimensions and dimensions of extent 1. Also looks through
/// elementwise ops, at their operands. If no operand varies along some dimension of the result,
/// clones the op without this dimension, directly after the original op.
class Narrowing {
public:
  /// Returns the smallest tensor found whose broadcast is `value`. New ops have the location `loc`,
  /// because constants may have no location of their own.
  Narrow narrow(mlir::Location loc, mlir::Value value);

private:
  Narrow build(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);
  Narrow buildElementwise(mlir::OpBuilder &builder, mlir::Location loc, mlir::Operation *op);

  /// The result for each value, so that all attention ops with the same mask share one small
  /// tensor.
  llvm::DenseMap<mlir::Value, Narrow> known;
};

} // namespace dpc

#endif // DPC_PASSES_NORMALIZE_NARROWING_H

#ifndef DPC_PASSES_NORMALIZE_NARROWING_H
#define DPC_PASSES_NORMALIZE_NARROWING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// A small tensor that another tensor is a broadcast of. Dimension i of `value` is dimension
/// `dimensions[i]` of the broadcast, which is constant along all its other dimensions.
struct Narrow {
  mlir::Value value;
  llvm::SmallVector<int64_t> dimensions; // in increasing order
};

/// Finds the smallest tensors that values are broadcasts of. Removes broadcasts, splat constants,
/// repeated iotas and dimensions of extent 1, also from the operands of elementwise ops. Clones
/// such an elementwise op for the smaller operands, directly after the original op.
class Narrowing {
public:
  /// Returns the smallest tensor that `value` is a broadcast of. New ops have the location `loc`,
  /// because constants may have no location to inherit.
  Narrow narrow(mlir::Location loc, mlir::Value value);

private:
  Narrow build(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);
  Narrow buildElementwise(mlir::OpBuilder &builder, mlir::Location loc, mlir::Operation *op);

  /// By value: its result, so that all attention ops with one mask share the same small tensor.
  llvm::DenseMap<mlir::Value, Narrow> known;
};

} // namespace dpc

#endif // DPC_PASSES_NORMALIZE_NARROWING_H

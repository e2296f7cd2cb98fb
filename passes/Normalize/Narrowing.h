#ifndef DPC_PASSES_NORMALIZE_NARROWING_H
#define DPC_PASSES_NORMALIZE_NARROWING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace dpc {

/// A tensor that another one repeats: its dimension i is dimension
/// `dimensions[i]` of that one, which is constant along all others.
struct Narrow {
  mlir::Value value;
  llvm::SmallVector<int64_t> dimensions; // increasing
};

/// What `value` repeats: broadcasts, equal constants, numberings and dimensions
/// of extent 1 are taken off, also from the operands of elementwise ops, which
/// are built anew on less. New ops have the location `loc`: constants may have
/// none.
Narrow narrow(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

} // namespace dpc

#endif // DPC_PASSES_NORMALIZE_NARROWING_H

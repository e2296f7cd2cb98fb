#ifndef DPC_PASSES_NORMALIZE_NARROWING_H
#define DPC_PASSES_NORMALIZE_NARROWING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// A tensor that another one repeats: its dimension i is dimension
/// `dimensions[i]` of that one, which is constant along all others.
struct Narrow {
  mlir::Value value;
  llvm::SmallVector<int64_t> dimensions; // increasing
};

/// Finds what values repeat: broadcasts, equal constants, numberings and
/// dimensions of extent 1 are taken off, also from the operands of elementwise
/// ops, which are built anew on less, after the op that they stand for.
class Narrowing {
public:
  /// New ops have the location `loc`: constants may have none.
  Narrow narrow(mlir::Location loc, mlir::Value value);

private:
  Narrow build(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);
  Narrow buildElementwise(mlir::OpBuilder &builder, mlir::Location loc, mlir::Operation *op);

  /// One for all that share a mask.
  llvm::DenseMap<mlir::Value, Narrow> known;
};

} // namespace dpc

#endif // DPC_PASSES_NORMALIZE_NARROWING_H

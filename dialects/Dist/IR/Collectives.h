#ifndef DPC_DIALECTS_DIST_IR_COLLECTIVES_H
#define DPC_DIALECTS_DIST_IR_COLLECTIVES_H

#include "dialects/Dist/IR/DistDialect.h"

#define GET_OP_CLASSES
#include "dialects/Dist/IR/Collectives.h.inc"

namespace dpc::dist {

/// Members of each group along `axes` of the mesh named `mesh` in scope of
/// `op`. Fails with an error on `op` if there is no such mesh, or if the axes
/// are no set of its parallel axes.
mlir::FailureOr<int64_t> verifyGroup(mlir::Operation *op,
                                     mlir::SymbolTableCollection &tables,
                                     mlir::FlatSymbolRefAttr mesh,
                                     mlir::ArrayAttr axes);

/// The axes of a collective op, and the members of each of its groups.
llvm::SmallVector<llvm::StringRef> axesOf(mlir::Operation *collective);
int64_t membersOf(mlir::Operation *collective);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_COLLECTIVES_H

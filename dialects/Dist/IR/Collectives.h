#ifndef DPC_DIALECTS_DIST_IR_COLLECTIVES_H
#define DPC_DIALECTS_DIST_IR_COLLECTIVES_H

#include "dialects/Dist/IR/DistDialect.h"

#include "mlir/IR/BuiltinOps.h"

#include "dialects/Dist/IR/CollectiveOpInterface.h.inc"

namespace dpc::dist {
class PieceOp; // a parent of dist.yield (Pieces.h)
} // namespace dpc::dist

#define GET_OP_CLASSES
#include "dialects/Dist/IR/Collectives.h.inc"

namespace dpc::dist {

/// Looks up the mesh with the name `mesh` in the symbol table around `op`. Returns
/// the number of devices in each group along `axes`. Fails with an error on `op` if
/// no mesh has this name, or if `axes` are not distinct parallel axes of the mesh.
mlir::FailureOr<int64_t> verifyGroup(mlir::Operation *op, mlir::SymbolTableCollection &tables,
                                     mlir::FlatSymbolRefAttr mesh, mlir::ArrayAttr axes);

/// The mesh of `module`; null if it has none. From level `placed` on, a module has
/// at most one mesh.
MeshOp findMesh(mlir::ModuleOp module);

/// The axes of the mesh of `module`; none if it has no mesh.
MeshShape getMeshShape(mlir::ModuleOp module);

/// Whether `op` exchanges data with other devices.
bool isCollective(mlir::Operation *op);

/// Returns `op` as a collective if it gives every rank the sum of the ranks' operands.
/// Null for other ops, and if `op` is null.
CollectiveOpInterface asSumOverRanks(mlir::Operation *op);

/// Whether a collective or a message (Messages.h) reads `value` or a view of it. If so,
/// `value` should lie in memory that the other ranks can read.
bool feedsCollective(mlir::Value value);

/// The names of the axes along which the devices of a collective op form groups.
llvm::SmallVector<llvm::StringRef> axesOf(CollectiveOpInterface collective);
/// The number of devices in each group of a collective op.
int64_t membersOf(CollectiveOpInterface collective);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_COLLECTIVES_H

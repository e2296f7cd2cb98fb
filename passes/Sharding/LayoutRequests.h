#ifndef DPC_PASSES_SHARDING_LAYOUTREQUESTS_H
#define DPC_PASSES_SHARDING_LAYOUTREQUESTS_H

#include "dialects/Dist/IR/DistDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// Axes that shall cut each dimension of a value, outermost first. Which factor of
/// a dimension an axis cuts is left to whoever answers the request.
using RequestedAxes = llvm::SmallVector<dist::AxisNames, 4>;

/// A value, and what is wanted of it (`dist.request`).
struct LayoutRequest {
  mlir::Value value;
  RequestedAxes dims;
};

mlir::ArrayAttr requestAttr(mlir::MLIRContext *context, llvm::ArrayRef<dist::AxisNames> dims);

/// All requests of `function`: of its arguments, then of ops in their order. Fails,
/// with an error that names the tensor, where one does not fit `mesh`: an axis that
/// it lacks or walks, an axis given twice, and a batch that `batchAxes` do not cut so.
mlir::FailureOr<std::vector<LayoutRequest>> readRequests(mlir::func::FuncOp function,
                                                         const dist::MeshShape &mesh,
                                                         llvm::ArrayRef<std::string> batchAxes);

/// Removes the requests, once they are answered.
void dropRequests(mlir::func::FuncOp function);

/// Cuts `dim` over `axes` too where no atom of it could be cut: its first factor that
/// has an index for each device, or else all of it.
void cutPlainly(dist::DimLayout &dim, llvm::ArrayRef<std::string> axes,
                const dist::MeshShape &mesh);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_LAYOUTREQUESTS_H

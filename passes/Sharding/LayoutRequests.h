#ifndef DPC_PASSES_SHARDING_LAYOUTREQUESTS_H
#define DPC_PASSES_SHARDING_LAYOUTREQUESTS_H

#include "dialects/Dist/IR/DistDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// The axes that shall shard each dimension of a value, outermost first. The code that answers a
/// request chooses the factor of the dimension that an axis shards.
using RequestedAxes = llvm::SmallVector<dist::AxisNames, 4>;

/// A value, and the axes that `dist.request` asks for.
struct LayoutRequest {
  mlir::Value value;
  RequestedAxes dims;
};

mlir::ArrayAttr requestAttr(mlir::MLIRContext *context, llvm::ArrayRef<dist::AxisNames> dims);

/// All requests of `function`: those of its arguments, then those of ops in their order. Fails with
/// an error that names the tensor if a request does not fit `mesh`: if the mesh lacks an axis, if
/// an axis is sequential or given twice, or if the batch is not sharded over `batchAxes`.
mlir::FailureOr<std::vector<LayoutRequest>> readRequests(mlir::func::FuncOp function,
                                                         const dist::MeshShape &mesh,
                                                         llvm::ArrayRef<std::string> batchAxes);

/// Removes the requests after they have been answered.
void dropRequests(mlir::func::FuncOp function);

/// Shards `dim` over `axes` without regard to atoms, for an axis that no atom of `dim` has. The
/// axes shard the first factor that has an index for each device, or else the complete dimension.
void cutPlainly(dist::DimLayout &dim, llvm::ArrayRef<std::string> axes,
                const dist::MeshShape &mesh);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_LAYOUTREQUESTS_H

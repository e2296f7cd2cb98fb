#ifndef DPC_PASSES_SHARDING_SEARCH_LAYOUTREQUESTS_H
#define DPC_PASSES_SHARDING_SEARCH_LAYOUTREQUESTS_H

#include "dialects/Dist/IR/DistDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dpc {

/// The axes that shall shard each dimension of a value, outermost first. A request does not say
/// which factor of the dimension an axis shards; the code that answers the request chooses the
/// factor.
using RequestedAxes = llvm::SmallVector<dist::AxisNames, 4>;

/// A value, and the axes that its `dist.request` asks for.
struct LayoutRequest {
  mlir::Value value;
  RequestedAxes dims;
};

mlir::ArrayAttr requestAttr(mlir::MLIRContext *context, llvm::ArrayRef<dist::AxisNames> dims);

/// Returns all requests of `function`: first those of its arguments, then those of its ops, in
/// order. If a request does not fit `mesh`, fails with an error that names the argument or is
/// located at the op. This is the case if the mesh lacks an axis, if an axis is sequential or given
/// twice, or if the request shards the batch over other axes than `batchAxes`.
mlir::FailureOr<std::vector<LayoutRequest>> readRequests(mlir::func::FuncOp function,
                                                         const dist::MeshShape &mesh,
                                                         llvm::ArrayRef<std::string> batchAxes);

/// Removes the requests after they have been answered.
void dropRequests(mlir::func::FuncOp function);

/// Shards `dim` over `axes` without regard to atoms. Callers do this if the plan cuts no atom of
/// `dim` over these axes. If `dim` has one segment, the axes shard the first unsharded factor that
/// has an index for each device. If there is no such factor, or if `dim` has several segments, the
/// axes shard the complete dimension, which loses its other cuts.
void cutPlainly(dist::DimLayout &dim, llvm::ArrayRef<std::string> axes,
                const dist::MeshShape &mesh);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_LAYOUTREQUESTS_H

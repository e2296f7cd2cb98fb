#ifndef DPC_DIALECTS_NN_PARTITION_PARTITION_H
#define DPC_DIALECTS_NN_PARTITION_PARTITION_H

#include "dialects/Dist/IR/Layout.h"
#include "dialects/NN/IR/Expressions.h"

namespace dpc {

/// The context in which an external model of PartitionOpInterface builds the ops
/// that one device runs in place of a logical op.
struct PartitionContext {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const dist::MeshShape &mesh;

  nn::Expressions expressions() { return {builder, loc}; }

  /// This device's coordinate on `axis`, as an i64 tensor of rank 0.
  mlir::Value axisIndex(llvm::StringRef axis);

  /// A one-dimensional i64 tensor with the global index for each local index of a
  /// dimension. For padding, it has an arbitrary index inside the dimension.
  mlir::Value globalIndices(const dist::DimLayout &dim);
  /// A one-dimensional i1 tensor that is true for each local index of a dimension
  /// that is not padding. Null if no device has padding.
  mlir::Value insideMask(const dist::DimLayout &dim);

  /// Two tensors of the shape of `indices`, which holds global indices (i64 or i32)
  /// of a dimension. The first has the local index on this device, or 0 if another
  /// device has the index. The second (i1) says whether this device has the index.
  /// `indices` must be inside the dimension.
  std::pair<mlir::Value, mlir::Value> localIndices(mlir::Value indices, const dist::DimLayout &dim);

  /// `local` with the padding along `dimensions` set to `identity`.
  mlir::Value mask(mlir::Value local, const dist::Layout &layout,
                   llvm::ArrayRef<unsigned> dimensions, double identity);

private:
  struct DimIndices {
    mlir::Value global, inside;
  };
  DimIndices dimIndices(const dist::DimLayout &dim);
};

/// Attaches PartitionOpInterface to nn ops.
void registerPartitionModels(mlir::DialectRegistry &registry);

} // namespace dpc

#include "dialects/NN/Partition/PartitionOpInterface.h.inc"

#endif // DPC_DIALECTS_NN_PARTITION_PARTITION_H

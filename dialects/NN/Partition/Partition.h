#ifndef DPC_DIALECTS_NN_PARTITION_PARTITION_H
#define DPC_DIALECTS_NN_PARTITION_PARTITION_H

#include "dialects/Dist/IR/Layout.h"
#include "dialects/NN/IR/Expressions.h"

namespace dpc {

/// The context for building one device's part of an op.
struct PartitionContext {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const dist::MeshShape &mesh;

  nn::Expressions expressions() { return {builder, loc}; }

  /// Rank-0 i64: this device's coordinate on `axis`.
  mlir::Value axisIndex(llvm::StringRef axis);

  /// For each local index of a dimension, i64 [local extent]: its global index. For
  /// padding, some index inside the tensor.
  mlir::Value globalIndices(const dist::DimLayout &dim);
  /// For each local index of a dimension, i1 [local extent]: whether it is not
  /// padding. Null if no device has padding.
  mlir::Value insideMask(const dist::DimLayout &dim);

  /// For each of the global `indices` (i64 or i32, any shape) of a dimension: its
  /// local index on this device, or 0 if another device has it, and whether this
  /// device has it (i1). Indices are inside the dimension.
  std::pair<mlir::Value, mlir::Value> localIndices(mlir::Value indices, const dist::DimLayout &dim);

  /// `local` with padding along `dimensions` replaced by `identity`.
  mlir::Value mask(mlir::Value local, const dist::Layout &layout,
                   llvm::ArrayRef<unsigned> dimensions, double identity);

private:
  struct DimIndices {
    mlir::Value global, inside;
  };
  DimIndices dimIndices(const dist::DimLayout &dim);
};

/// Attaches the partition models of nn ops.
void registerPartitionModels(mlir::DialectRegistry &registry);

} // namespace dpc

#include "dialects/NN/Partition/PartitionOpInterface.h.inc"

#endif // DPC_DIALECTS_NN_PARTITION_PARTITION_H

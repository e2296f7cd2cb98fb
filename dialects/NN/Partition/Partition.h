#ifndef DPC_DIALECTS_NN_PARTITION_PARTITION_H
#define DPC_DIALECTS_NN_PARTITION_PARTITION_H

#include "dialects/Dist/IR/Layout.h"
#include "dialects/NN/IR/Expressions.h"

namespace dpc {

/// What building one device's part of an op needs.
struct PartitionContext {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const dist::MeshShape &mesh;

  nn::Expressions expressions() { return {builder, loc}; }

  /// Rank-0 i64: this device's coordinate.
  mlir::Value axisIndex(llvm::StringRef axis);

  /// For each local index of a dimension, i64 [local extent]: its global
  /// index, an index inside the tensor where it is padding.
  mlir::Value globalIndices(const dist::DimLayout &dim);
  /// For each local index of a dimension, i1 [local extent]: whether it is no
  /// padding. Null when there is none on any device.
  mlir::Value insideMask(const dist::DimLayout &dim);

  /// Where this device holds each of the global `indices` (i64 or i32, any
  /// shape) of a dimension: the local index, 0 where it holds none, and
  /// whether it holds it (i1). Indices are inside the dimension.
  std::pair<mlir::Value, mlir::Value> localIndices(mlir::Value indices, const dist::DimLayout &dim);

  /// `local` with `identity` where it is padding along `dimensions`.
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

#ifndef DPC_DIALECTS_EXEC_IR_EXECOPS_H
#define DPC_DIALECTS_EXEC_IR_EXECOPS_H

#include "dialects/Exec/IR/ExecDialect.h"

#define GET_OP_CLASSES
#include "dialects/Exec/IR/ExecOps.h.inc"

namespace dpc::exec {

/// The buffer type of a tensor type, and the inverse.
mlir::MemRefType bufferOf(mlir::Type tensor);
mlir::RankedTensorType tensorOf(mlir::Type buffer);

/// Bytes of a buffer; an i1 takes a byte.
int64_t bufferBytes(mlir::Type buffer);
/// Bytes of one element of a tensor or buffer.
int64_t elementBytes(mlir::Type type);

/// The arguments of the program that a persistent buffer holds: one, the members of
/// flat storage, or none (a coordinate, a metric, an output).
llvm::SmallVector<nn::ArgAttr> getBoundArgs(PersistentOp persistent);

/// The place of a buffer, traced through views to its root.
struct Place {
  /// An exec.buffer or exec.persistent.
  mlir::Operation *root = nullptr;
  /// Bytes from the start of the root.
  int64_t offset = 0;
  /// Additional bytes for each microbatch before the current one.
  int64_t stride = 0;
  /// Additional bytes for each member before this rank in its group along
  /// `shardAxes`. Null axes if all ranks use the same bytes.
  int64_t shardStride = 0;
  mlir::ArrayAttr shardAxes;
};

/// Follows views from `buffer` to its root. `symbols` finds persistent buffers by name: a
/// walk through all symbols of the module for each buffer would be too slow.
Place placeOf(mlir::Value buffer, mlir::SymbolTableCollection &symbols);
/// The same with another lookup of persistent buffers.
Place placeOf(mlir::Value buffer, llvm::function_ref<PersistentOp(GetOp)> find);

/// The space of an exec.buffer or exec.persistent, and its offset in it if memory
/// is planned.
Space spaceOf(mlir::Operation *root);
std::optional<int64_t> offsetOf(mlir::Operation *root);

} // namespace dpc::exec

#endif // DPC_DIALECTS_EXEC_IR_EXECOPS_H

#ifndef DPC_DIALECTS_EXEC_IR_EXECOPS_H
#define DPC_DIALECTS_EXEC_IR_EXECOPS_H

#include "dialects/Exec/IR/ExecDialect.h"

#define GET_OP_CLASSES
#include "dialects/Exec/IR/ExecOps.h.inc"

namespace dpc::exec {

/// `bufferOf` returns the buffer type of a tensor type, e.g. memref<4x3xf32> for
/// tensor<4x3xf32>. `tensorOf` returns the tensor type of a buffer type.
mlir::MemRefType bufferOf(mlir::Type tensor);
mlir::RankedTensorType tensorOf(mlir::Type buffer);

/// Size of a buffer in bytes. An element of type i1 takes one byte.
int64_t bufferBytes(mlir::Type buffer);
/// Size of one element of a tensor or buffer in bytes.
int64_t elementBytes(mlir::Type type);

/// The arguments of the program whose values a persistent buffer holds. A buffer of flat
/// storage holds several, one per member. A buffer of a coordinate, a metric or an output
/// holds none. All other buffers hold one.
llvm::SmallVector<nn::ArgAttr> getBoundArgs(PersistentOp persistent);

/// The name of a persistent buffer in reports: that of the argument or result that is bound to it.
/// Flat storage has the name of its first member and the number of its other members. Other buffers
/// have no name: the result is empty.
std::string nameOfBinding(PersistentOp persistent);

/// Where a buffer lies: its root, which is found by following views, and its distance
/// from the start of the root.
struct Place {
  /// An exec.buffer or exec.persistent; null if the views lead to an argument of a
  /// function.
  mlir::Operation *root = nullptr;
  /// Bytes from the start of the root.
  int64_t offset = 0;
  /// Additional bytes for each microbatch before the current one.
  int64_t stride = 0;
  /// Additional bytes for each rank that comes before this rank in its group along
  /// `shardAxes`. If `shardAxes` is null, all ranks use the same bytes.
  int64_t shardStride = 0;
  mlir::ArrayAttr shardAxes;
};

/// Follows views from `buffer` to its root. `symbols` finds persistent buffers by name.
/// It is a table because a walk through all symbols of the module for each buffer would
/// be too slow.
Place placeOf(mlir::Value buffer, mlir::SymbolTableCollection &symbols);
/// As above, but `find` finds the exec.persistent that an exec.get names.
Place placeOf(mlir::Value buffer, llvm::function_ref<PersistentOp(GetOp)> find);

/// Whether `op` only names memory: exec.get, exec.buffer, exec.frame or exec.view.
bool namesMemory(mlir::Operation *op);

/// Whether `op` starts a collective or a message, for which an exec.wait waits.
bool isStart(mlir::Operation *op);

/// `spaceOf` returns the space of an exec.buffer or exec.persistent. `offsetOf` returns
/// its offset in this space, in bytes; there is none before memory is planned.
Space spaceOf(mlir::Operation *root);
std::optional<int64_t> offsetOf(mlir::Operation *root);

} // namespace dpc::exec

#endif // DPC_DIALECTS_EXEC_IR_EXECOPS_H

#ifndef DPC_DIALECTS_EXEC_IR_ACCESSES_H
#define DPC_DIALECTS_EXEC_IR_ACCESSES_H

#include "dialects/Exec/IR/ExecDialect.h"

namespace dpc::exec {

/// One buffer operand of an op, and whether the op writes the buffer or only reads
/// it.
struct Access {
  mlir::Value buffer;
  bool isWrite;
};

/// The buffers that `op` itself reads and writes. Buffers that only ops in the
/// regions of `op` access are not included. A collective or message accesses its
/// buffers until its wait, but only the op that starts it lists them here.
llvm::SmallVector<Access> accessesOf(mlir::Operation *op);

/// The bytes of a buffer, relative to its root: the exec.buffer or exec.persistent
/// that its views lead to. An extent is known before memory is planned. Its start
/// may depend on the microbatch and on the rank.
struct Extent {
  Place place;
  int64_t bytes;

  Extent(mlir::Value buffer, mlir::SymbolTableCollection &symbols);

  /// Whether both extents are the same bytes in every microbatch and on every rank.
  bool equals(const Extent &other) const;
  /// Whether both extents may have a byte in common within one microbatch.
  bool mayOverlap(const Extent &other) const;
};

} // namespace dpc::exec

#endif // DPC_DIALECTS_EXEC_IR_ACCESSES_H

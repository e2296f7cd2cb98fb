#ifndef DPC_DIALECTS_EXEC_IR_ACCESSES_H
#define DPC_DIALECTS_EXEC_IR_ACCESSES_H

#include "dialects/Exec/IR/ExecDialect.h"

namespace dpc::exec {

/// A buffer that an op reads, or writes.
struct Access {
  mlir::Value buffer;
  bool isWrite;
};

/// What `op` itself reads and writes, the ops of its regions left out. A
/// collective accesses its buffers from its start to the wait; it is listed
/// under the start.
llvm::SmallVector<Access> accessesOf(mlir::Operation *op);

/// Bytes of a buffer, as far as they are known before memory is planned: part
/// of a root, which may depend on the microbatch and on the rank.
struct Extent {
  Place place;
  int64_t bytes;

  Extent(mlir::Value buffer, mlir::SymbolTableCollection &symbols);

  /// Whether both are the same bytes in every microbatch and on every rank.
  bool equals(const Extent &other) const;
  /// Whether both may have a byte in common, in the same microbatch.
  bool mayOverlap(const Extent &other) const;
};

} // namespace dpc::exec

#endif // DPC_DIALECTS_EXEC_IR_ACCESSES_H

#ifndef DPC_DIALECTS_EXEC_IR_ACCESSES_H
#define DPC_DIALECTS_EXEC_IR_ACCESSES_H

#include "dialects/Exec/IR/ExecDialect.h"

namespace dpc::exec {

/// A buffer that an op reads, or writes.
struct Access {
  mlir::Value buffer;
  bool isWrite;
};

/// The buffers that `op` itself reads and writes, without those of ops in its
/// regions. A collective accesses its buffers from its start to its wait; the start
/// lists them.
llvm::SmallVector<Access> accessesOf(mlir::Operation *op);

/// The bytes of a buffer as far as they are known before memory is planned: a part
/// of a root, which may depend on the microbatch and on the rank.
struct Extent {
  Place place;
  int64_t bytes;

  Extent(mlir::Value buffer, mlir::SymbolTableCollection &symbols);

  /// Whether both are the same bytes in every microbatch and on every rank.
  bool equals(const Extent &other) const;
  /// Whether both may share a byte within one microbatch.
  bool mayOverlap(const Extent &other) const;
};

} // namespace dpc::exec

#endif // DPC_DIALECTS_EXEC_IR_ACCESSES_H

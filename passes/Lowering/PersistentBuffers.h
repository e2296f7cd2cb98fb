#ifndef DPC_PASSES_LOWERING_PERSISTENTBUFFERS_H
#define DPC_PASSES_LOWERING_PERSISTENTBUFFERS_H

#include "dialects/Exec/IR/ExecDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace dpc {

/// The persistent buffers of a program, which are created at their first use. If a collective works
/// on a buffer, the buffer lies in space `shared`. Sharded flat storage does not lie there: each
/// rank copies or converts its shard before a gather.
class PersistentBuffers {
public:
  explicit PersistentBuffers(mlir::ModuleOp module);

  /// Returns the buffer with the binding `binding`: the binding of an argument or result (see
  /// argBinding), or the coordinate of a rank. Fails with an error if the program uses the buffer
  /// with another type elsewhere.
  mlir::FailureOr<exec::PersistentOp> getOrCreate(mlir::Location loc, mlir::Attribute binding,
                                                  mlir::Type tensor, mlir::Attribute layout);

  /// Returns the allocated buffer that `buffer` is a view of, and the position of `buffer` in it.
  exec::Place placeOf(mlir::Value buffer) const {
    return exec::placeOf(buffer,
                         [&](exec::GetOp get) { return byName.lookup(get.getPersistent()); });
  }

private:
  mlir::OpBuilder builder;
  llvm::StringSet<> shared;
  llvm::StringMap<exec::PersistentOp> byName;
};

} // namespace dpc

#endif // DPC_PASSES_LOWERING_PERSISTENTBUFFERS_H

#ifndef DPC_PASSES_LOWERING_PERSISTENTBUFFERS_H
#define DPC_PASSES_LOWERING_PERSISTENTBUFFERS_H

#include "dialects/Exec/IR/ExecDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace dpc {

/// The persistent buffers of a program, made on first use. What a collective
/// reads or writes lies in space `shared`, on which collectives work.
class PersistentBuffers {
public:
  explicit PersistentBuffers(mlir::ModuleOp module);

  /// The buffer of what `binding` names: see argBinding, or the coordinate of a
  /// rank. Fails with
  /// an error where it has another type than elsewhere in the program.
  mlir::FailureOr<exec::PersistentOp> getOrCreate(mlir::Location loc, mlir::Attribute binding,
                                                  mlir::Type tensor, mlir::Attribute layout);

  /// Follows views from `buffer` to what was allocated.
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

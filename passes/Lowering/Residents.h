#ifndef DPC_PASSES_LOWERING_RESIDENTS_H
#define DPC_PASSES_LOWERING_RESIDENTS_H

#include "dialects/Exec/IR/ExecDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace dpc {

/// What an argument (a result) of a function is bound to: its #dist.storage,
/// else its #nn.arg (#nn.result); null if it has neither.
mlir::Attribute argBinding(mlir::func::FuncOp function, unsigned index);
mlir::Attribute resultBinding(mlir::func::FuncOp function, unsigned index);

/// The resident buffers of a program, made on first use. What a collective
/// reads lies where peers can read it.
class Residents {
public:
  explicit Residents(mlir::ModuleOp module);

  /// The buffer of what `binding` (see argBinding) names. Fails with
  /// an error where it has another type than elsewhere in the program.
  mlir::FailureOr<exec::ResidentOp> getOrCreate(mlir::Location loc,
                                                mlir::Attribute binding,
                                                mlir::Type tensor,
                                                mlir::Attribute layout);

  /// The symbol of that buffer: state.NAME, input.NAME, metric.NAME,
  /// output.NAME or storage.NAME.
  static std::string symbolOf(mlir::Attribute binding);

private:
  mlir::OpBuilder builder;
  llvm::StringSet<> shared;
  llvm::StringMap<exec::ResidentOp> byName;
};

} // namespace dpc

#endif // DPC_PASSES_LOWERING_RESIDENTS_H

#ifndef DPC_PASSES_VERIFY_CONTRACT_H
#define DPC_PASSES_VERIFY_CONTRACT_H

#include "dialects/Dist/IR/MeshShape.h"
#include "dialects/NN/IR/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// The checks that the contracts of several tensor levels have in common (import, step, placed,
/// local, ordered). A check that finds a violation emits one error on the op at fault.
class Contract {
public:
  Contract(mlir::ModuleOp module, llvm::StringRef level) : module(module), level(level) {}

  /// Emits an error on `op` whose text begins with the name of the level.
  mlir::InFlightDiagnostic violation(mlir::Operation *op);

  /// Fails if the module has a function whose name is not in `names`.
  mlir::LogicalResult checkFunctions(llvm::ArrayRef<llvm::StringRef> names);
  /// Returns the mesh of the module. Fails unless there is exactly one.
  mlir::FailureOr<dist::MeshShape> getMesh();
  /// Checks that every argument has an #nn.arg, that every result has an #nn.result that is no
  /// gradient, and that every op but constants has a location.
  mlir::LogicalResult checkSignature(mlir::func::FuncOp function);
  /// Checks that every argument that is state has an `nn.variable` with its name and type, and that
  /// no two variables have the same name.
  mlir::LogicalResult checkVariables(mlir::func::FuncOp function);
  /// Checks that every result that is state is the new value of an argument. This argument must
  /// have the same type and must be no constant. Checks also that no state is returned twice.
  mlir::LogicalResult checkStateResults(mlir::func::FuncOp function);

private:
  mlir::ModuleOp module;
  llvm::StringRef level;
};

} // namespace dpc

#endif // DPC_PASSES_VERIFY_CONTRACT_H

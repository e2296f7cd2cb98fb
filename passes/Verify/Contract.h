#ifndef DPC_PASSES_VERIFY_CONTRACT_H
#define DPC_PASSES_VERIFY_CONTRACT_H

#include "dialects/Dist/IR/MeshShape.h"
#include "dialects/NN/IR/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// What the contracts of the tensor levels (import, step, placed, local) have
/// in common. Every check emits one error on the op at fault and fails.
class Contract {
public:
  Contract(mlir::ModuleOp module, llvm::StringRef level) : module(module), level(level) {}

  /// An error that names the level.
  mlir::InFlightDiagnostic violation(mlir::Operation *op);

  /// Fails unless the module's functions bear `names`, each at most once.
  mlir::LogicalResult checkFunctions(llvm::ArrayRef<llvm::StringRef> names);
  /// The module's mesh; fails unless there is exactly one.
  mlir::FailureOr<dist::MeshShape> getMesh();
  /// Every argument has an #nn.arg, every result an #nn.result that is no
  /// gradient; every op but constants has a location.
  mlir::LogicalResult checkSignature(mlir::func::FuncOp function);
  /// Every argument that is state has a variable of its name and type.
  mlir::LogicalResult checkVariables(mlir::func::FuncOp function);
  /// A result that is state is the new value of an argument.
  mlir::LogicalResult checkStateResults(mlir::func::FuncOp function);

private:
  mlir::ModuleOp module;
  llvm::StringRef level;
};

} // namespace dpc

#endif // DPC_PASSES_VERIFY_CONTRACT_H

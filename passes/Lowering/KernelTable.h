#ifndef DPC_PASSES_LOWERING_KERNELTABLE_H
#define DPC_PASSES_LOWERING_KERNELTABLE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace dpc {

/// The kernels of a module: one private func.func each, made on first use.
class KernelTable {
public:
  explicit KernelTable(mlir::ModuleOp module) : module(module) {}

  /// The function that does what `op` (an nn.kernel or nn.update) does. Ops
  /// with equal types, attributes and regions share one, wherever they come
  /// from.
  mlir::func::FuncOp getOrCreate(mlir::Operation *op);

  /// Gives each kernel the locations of all ops that it serves. They are joined
  /// once, since each joining reads all of them.
  void nameNodes();

private:
  struct Kernel {
    mlir::func::FuncOp function;
    llvm::SmallVector<mlir::Location> locations;
  };
  mlir::ModuleOp module;
  llvm::StringMap<Kernel> byText;
};

/// The kernel that adds a value of type `tensor` to a sum, both flattened; made
/// by `createAccumulateKernel`, null before.
mlir::func::FuncOp getAccumulateKernel(mlir::ModuleOp module, mlir::Type tensor);
void createAccumulateKernel(mlir::ModuleOp module, mlir::Type tensor);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_KERNELTABLE_H

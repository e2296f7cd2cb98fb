#ifndef DPC_PASSES_LOWERING_KERNELTABLE_H
#define DPC_PASSES_LOWERING_KERNELTABLE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace dpc {

/// The kernels of a module. Each kernel is a private func.func that is created when an op first
/// needs it.
class KernelTable {
public:
  explicit KernelTable(mlir::ModuleOp module) : module(module) {}

  /// Returns the function that computes `op`, an nn.kernel or nn.update. Ops with equal types,
  /// attributes and regions share one function, even if their locations differ.
  mlir::func::FuncOp getOrCreate(mlir::Operation *op);

  /// Sets the location of each kernel to the fused locations of all ops that call it. Call this
  /// once, after the last getOrCreate(). To fuse the locations again for each op would take
  /// quadratic time.
  void nameNodes();

private:
  struct Kernel {
    mlir::func::FuncOp function;
    llvm::SmallVector<mlir::Location> locations;
  };
  mlir::ModuleOp module;
  llvm::StringMap<Kernel> byText;
};

/// Returns the kernel that adds a value of type `tensor` to a sum. The kernel works on both as
/// one-dimensional tensors. Null if createAccumulateKernel() has not created it.
mlir::func::FuncOp getAccumulateKernel(mlir::ModuleOp module, mlir::Type tensor);
void createAccumulateKernel(mlir::ModuleOp module, mlir::Type tensor);

} // namespace dpc

#endif // DPC_PASSES_LOWERING_KERNELTABLE_H

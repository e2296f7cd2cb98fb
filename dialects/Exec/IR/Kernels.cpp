// Finds the function that a launch runs, and the nn.kernel or nn.update in it.

#include "dialects/Exec/IR/Kernels.h"

#include "dialects/NN/IR/Program.h"

using namespace mlir;
using namespace dpc;

bool exec::isKernel(func::FuncOp function) {
  return function.isPrivate() && !function.isExternal() &&
         isa<nn::KernelOp, nn::UpdateOp>(function.front().front());
}

Operation *exec::getKernelBody(func::FuncOp kernel) { return &kernel.front().front(); }

func::FuncOp exec::findFunction(LaunchOp launch, SymbolTableCollection &symbols) {
  return symbols.lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
}

Operation *exec::findKernelBody(LaunchOp launch, SymbolTableCollection &symbols) {
  func::FuncOp function = findFunction(launch, symbols);
  return function && isKernel(function) ? getKernelBody(function) : nullptr;
}

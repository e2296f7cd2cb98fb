#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELFUNCTION_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELFUNCTION_H

#include "targets/Loops/Kernels/FunctionPlan.h"
#include "targets/Loops/Kernels/KernelMemory.h"

namespace dpc {

/// Emits the function of one kernel (Target::emitKernel). The function runs the
/// loop groups of the kernel one after the other.
class KernelFunction {
public:
  KernelFunction(const KernelGraph &graph, const FunctionPlan &plan, KernelEmitter &emitter,
                 mlir::ModuleOp module, llvm::StringRef symbol)
      : graph(graph), plan(plan), e(emitter), module(module), symbol(symbol),
        memory(graph, plan.places, emitter, module, symbol) {}

  /// The function with the loops gets `attributes`
  /// (HostLoopTarget::getAttributes).
  mlir::FailureOr<KernelCode> emit(llvm::ArrayRef<mlir::Attribute> attributes);

private:
  mlir::LLVM::LLVMFuncOp createFunction(llvm::ArrayRef<mlir::Attribute> attributes);
  mlir::LogicalResult emitGroups();

  const KernelGraph &graph;
  const FunctionPlan &plan;
  KernelEmitter &e;
  mlir::ModuleOp module;
  llvm::StringRef symbol;
  KernelMemory memory;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELFUNCTION_H

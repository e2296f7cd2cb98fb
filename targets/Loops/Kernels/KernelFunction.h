#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELFUNCTION_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELFUNCTION_H

#include "targets/Loops/Kernels/KernelMemory.h"
#include "targets/Loops/Kernels/LoopPlan.h"

namespace dpc {

/// Writes the function of one kernel (Target::emitKernel), which runs the loops of
/// its groups one after the other.
class KernelFunction {
public:
  KernelFunction(const KernelGraph &graph, KernelEmitter &emitter, mlir::ModuleOp module,
                 llvm::StringRef symbol)
      : graph(graph), e(emitter), module(module), symbol(symbol),
        memory(graph, emitter, module, symbol) {}

  /// `attributes` are put on the function that holds the loops
  /// (HostLoopTarget::getAttributes).
  mlir::FailureOr<KernelCode> emit(llvm::ArrayRef<mlir::Attribute> attributes);

private:
  mlir::LLVM::LLVMFuncOp createFunction(llvm::ArrayRef<mlir::Attribute> attributes);
  mlir::LogicalResult emitGroups();
  void placeValue(mlir::Value value, const LoopGroup &group, unsigned ordinal, unsigned lastGroup);

  const KernelGraph &graph;
  KernelEmitter &e;
  mlir::ModuleOp module;
  llvm::StringRef symbol;
  KernelMemory memory;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELFUNCTION_H

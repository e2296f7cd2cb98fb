#ifndef DPC_TARGETS_LOOPS_KERNELS_KERNELFUNCTION_H
#define DPC_TARGETS_LOOPS_KERNELS_KERNELFUNCTION_H

#include "targets/Loops/Kernels/KernelEmitter.h"
#include "targets/Loops/Kernels/LoopPlan.h"
#include "targets/Target.h"

#include "dialects/NN/IR/Shape.h"

namespace dpc {

/// Writes the function of one kernel (Target::emitKernel): where its values
/// lie, and the loops of its groups.
class KernelFunction {
public:
  KernelFunction(const KernelGraph &graph, KernelEmitter &emitter, mlir::ModuleOp module,
                 llvm::StringRef symbol);

  /// `attributes` are those of the function that holds the loops
  /// (LoopTarget::getAttributes).
  mlir::FailureOr<KernelCode> emit(llvm::ArrayRef<mlir::Attribute> attributes);

private:
  void createFunction(llvm::ArrayRef<mlir::Attribute> attributes);
  mlir::LogicalResult placeArguments();
  mlir::LogicalResult addTable(nn::ConstantOp constant);
  KernelEmitter::Buffer resultBuffer(unsigned result);
  mlir::LogicalResult emitGroups();
  void placeValue(mlir::Value value, const LoopGroup &group, unsigned ordinal, unsigned lastGroup);
  bool isStoredIn(mlir::Value value, unsigned result) const;
  void findAliases(KernelCode &code);
  bool mayAlias(mlir::Value result, mlir::BlockArgument operand) const;
  void declareUnaliased(const KernelCode &code);

  const KernelGraph &graph;
  KernelEmitter &e;
  mlir::ModuleOp module;
  llvm::StringRef symbol;
  unsigned operands, results;
  mlir::LLVM::LLVMFuncOp body;
  ScratchAllocator scratch;
  /// The result that a value is stored in, if any.
  llvm::DenseMap<mlir::Value, unsigned> resultOf;
  unsigned tables = 0;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_KERNELFUNCTION_H

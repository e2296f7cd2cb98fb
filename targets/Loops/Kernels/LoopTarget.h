#ifndef DPC_TARGETS_LOOPS_KERNELS_LOOPTARGET_H
#define DPC_TARGETS_LOOPS_KERNELS_LOOPTARGET_H

#include "targets/Loops/Kernels/FunctionPlan.h"
#include "targets/Loops/Kernels/KernelEmitter.h"
#include "targets/Target.h"

namespace dpc {

/// Base of the targets whose kernels are loops in the LLVM dialect. They use the element
/// rules and fill rules of ops, and may add faster rules.
class LoopTarget : public Target {
public:
  void registerDialects(mlir::DialectRegistry &registry) const override;

  /// The form of an op by the rules that all loop targets share.
  OpForm getForm(mlir::Operation *op) const override;

  llvm::SmallVector<mlir::Value> decompose(mlir::Operation *op,
                                           mlir::OpBuilder &builder) const override;

  mlir::FailureOr<KernelNeeds> describeKernel(mlir::Operation *op,
                                              const CodeOptions &options) const override;
  mlir::FailureOr<KernelCode> emitKernel(mlir::Operation *op, llvm::StringRef symbol,
                                         mlir::ModuleOp code,
                                         const CodeOptions &options) const override;

protected:
  /// Implement Target::describeKernel and Target::emitKernel for an op whose graph is
  /// `graph`.
  virtual mlir::FailureOr<KernelNeeds> describeGraph(const KernelGraph &graph, mlir::Location loc,
                                                     const CodeOptions &options) const = 0;
  virtual mlir::FailureOr<KernelCode> emitGraph(const KernelGraph &graph, mlir::Location loc,
                                                llvm::StringRef symbol, mlir::ModuleOp code,
                                                const CodeOptions &options) const = 0;
};

/// Base of the loop targets whose kernels are host code, with one function per kernel.
class HostLoopTarget : public LoopTarget {
public:
  bool sharesSplitRows(mlir::Operation *reduction) const override {
    return splitRowsOf(reduction).has_value();
  }

protected:
  mlir::FailureOr<KernelNeeds> describeGraph(const KernelGraph &graph, mlir::Location loc,
                                             const CodeOptions &options) const override;
  mlir::FailureOr<KernelCode> emitGraph(const KernelGraph &graph, mlir::Location loc,
                                        llvm::StringRef symbol, mlir::ModuleOp code,
                                        const CodeOptions &options) const override;

  /// Creates the emitter of a kernel's loops. The builder has no insertion point yet.
  virtual std::unique_ptr<KernelEmitter> createEmitter(mlir::OpBuilder &builder, mlir::Location loc,
                                                       const KernelGraph &graph,
                                                       const CodeOptions &options) const = 0;
  /// Creates the AccessWalk for the loops that the emitter of `createEmitter` emits.
  virtual std::unique_ptr<AccessWalk> createWalk(const KernelGraph &graph,
                                                 const KernelPlaces &places,
                                                 const CodeOptions &options) const = 0;
  /// The sizes in bytes of the pieces of scratch memory that the fill rule of `op` takes,
  /// in order.
  virtual llvm::SmallVector<int64_t> getScratch(mlir::Operation *op, const KernelPlaces &places,
                                                const CodeOptions &options) const;
  /// LLVM attributes of the function with the loops: names, or pairs of a name and a
  /// value. All these functions also have the attributes `noinline` and `nounwind`.
  virtual llvm::SmallVector<mlir::Attribute> getAttributes(mlir::Builder &builder,
                                                           const CodeOptions &options) const {
    return {};
  }

private:
  mlir::FailureOr<FunctionPlan> plan(const KernelGraph &graph, mlir::Location loc,
                                     const CodeOptions &options) const;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_LOOPTARGET_H

#ifndef DPC_TARGETS_LOOPS_KERNELS_LOOPTARGET_H
#define DPC_TARGETS_LOOPS_KERNELS_LOOPTARGET_H

#include "targets/Loops/Kernels/FunctionPlan.h"
#include "targets/Loops/Kernels/KernelEmitter.h"
#include "targets/Target.h"

namespace dpc {

/// A target whose kernels are loops in the LLVM dialect. It uses the element and
/// fill rules of ops, and faster rules of its own.
class LoopTarget : public Target {
public:
  void registerDialects(mlir::DialectRegistry &registry) const override;

  /// The form that the common rules of all loop targets give.
  OpForm getForm(mlir::Operation *op) const override;

  mlir::FailureOr<KernelNeeds> describeKernel(mlir::Operation *op,
                                              const CodeOptions &options) const override;
  mlir::FailureOr<KernelCode> emitKernel(mlir::Operation *op, llvm::StringRef symbol,
                                         mlir::ModuleOp code,
                                         const CodeOptions &options) const override;

protected:
  /// Implement Target::describeKernel and emitKernel for an op with this graph.
  virtual mlir::FailureOr<KernelNeeds> describeGraph(const KernelGraph &graph, mlir::Location loc,
                                                     const CodeOptions &options) const = 0;
  virtual mlir::FailureOr<KernelCode> emitGraph(const KernelGraph &graph, mlir::Location loc,
                                                llvm::StringRef symbol, mlir::ModuleOp code,
                                                const CodeOptions &options) const = 0;
};

/// A loop target whose kernels are one function each, which the host calls.
class HostLoopTarget : public LoopTarget {
protected:
  mlir::FailureOr<KernelNeeds> describeGraph(const KernelGraph &graph, mlir::Location loc,
                                             const CodeOptions &options) const override;
  mlir::FailureOr<KernelCode> emitGraph(const KernelGraph &graph, mlir::Location loc,
                                        llvm::StringRef symbol, mlir::ModuleOp code,
                                        const CodeOptions &options) const override;

  /// The emitter of a kernel's loops; it has no insertion point yet.
  virtual std::unique_ptr<KernelEmitter> createEmitter(mlir::OpBuilder &builder, mlir::Location loc,
                                                       const KernelGraph &graph,
                                                       const CodeOptions &options) const = 0;
  /// The walk over the loops that this emitter writes.
  virtual std::unique_ptr<AccessWalk> createWalk(const KernelGraph &graph,
                                                 const KernelPlaces &places,
                                                 const CodeOptions &options) const = 0;
  /// The bytes of each piece of scratch memory that the fill rule of `op` takes, in order.
  virtual llvm::SmallVector<int64_t> getScratch(mlir::Operation *op, const KernelPlaces &places,
                                                const CodeOptions &options) const;
  /// LLVM attributes of the function that holds the loops, in addition to
  /// `noinline` and `nounwind`: names, or pairs of a name and a value.
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

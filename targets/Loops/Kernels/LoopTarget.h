#ifndef DPC_TARGETS_LOOPS_KERNELS_LOOPTARGET_H
#define DPC_TARGETS_LOOPS_KERNELS_LOOPTARGET_H

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

  mlir::FailureOr<KernelCode> emitKernel(mlir::Operation *op, llvm::StringRef symbol,
                                         mlir::ModuleOp code,
                                         const CodeOptions &options) const override;

protected:
  /// Implements Target::emitKernel for an op with this graph.
  virtual mlir::FailureOr<KernelCode> emitGraph(const KernelGraph &graph, mlir::Location loc,
                                                llvm::StringRef symbol, mlir::ModuleOp code,
                                                const CodeOptions &options) const = 0;
};

/// A loop target whose kernels are one function each, which the host calls.
class HostLoopTarget : public LoopTarget {
protected:
  mlir::FailureOr<KernelCode> emitGraph(const KernelGraph &graph, mlir::Location loc,
                                        llvm::StringRef symbol, mlir::ModuleOp code,
                                        const CodeOptions &options) const override;

  /// The emitter of a kernel's loops; it has no insertion point yet.
  virtual std::unique_ptr<KernelEmitter> createEmitter(mlir::OpBuilder &builder, mlir::Location loc,
                                                       const KernelGraph &graph,
                                                       const CodeOptions &options) const = 0;
  /// LLVM attributes of the function that holds the loops, in addition to
  /// `noinline` and `nounwind`: names, or pairs of a name and a value.
  virtual llvm::SmallVector<mlir::Attribute> getAttributes(mlir::Builder &builder,
                                                           const CodeOptions &options) const {
    return {};
  }
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_KERNELS_LOOPTARGET_H

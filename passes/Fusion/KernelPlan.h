#ifndef DPC_PASSES_FUSION_KERNELPLAN_H
#define DPC_PASSES_FUSION_KERNELPLAN_H

#include "dialects/NN/IR/Fusion.h"
#include "targets/Target.h"

#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace dpc {

/// The ops of one kernel, in an order in which they can run.
using KernelOps = llvm::SmallVector<mlir::Operation *>;

/// A block whose ops are to be divided into kernels, and the limits of this division.
struct KernelProblem {
  mlir::Block &block;
  const Target &target;
  /// How the target generates kernels. Without `recompute`, no chain is computed again.
  CodeOptions code;
  /// The most ops that one kernel may have.
  int64_t maxOps;
  /// The most ops of an elementwise chain that a kernel computes again instead of reading the
  /// result of the chain.
  int64_t recomputedOps;

  /// Checks that a kernel may have at least one op and that `recomputedOps` is not negative.
  llvm::Error check() const;
};

/// The kernels, in an order in which they can run. An op that belongs to no kernel (a view, an
/// update, a collective) has an entry of its own.
struct KernelPlan {
  std::vector<KernelOps> kernels;

  /// Checks that the answer is sound for `problem`:
  /// - Each op of the block is in exactly one entry of `kernels`. Only ops that cost nothing to
  ///   compute again (constants, iotas, broadcasts) may be in no entry.
  /// - Views, updates and collectives are alone in their entries.
  /// - Each kernel has at most one op whose result is computed in tiles.
  /// - Every kernel comes after the kernels that compute its inputs, and every op in a kernel after
  ///   the ops that compute its operands.
  llvm::Error verify(const KernelProblem &problem) const;
};

/// Divides the ops of the block into kernels (KernelGroups.h). Then lets kernels recompute short
/// elementwise chains (Recomputation.h), for which it adds ops to the block. Fails only if
/// `problem.check()` fails.
llvm::Expected<KernelPlan> planKernels(const KernelProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_FUSION_KERNELPLAN_H

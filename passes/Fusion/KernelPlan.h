#ifndef DPC_PASSES_FUSION_KERNELPLAN_H
#define DPC_PASSES_FUSION_KERNELPLAN_H

#include "dialects/NN/IR/Fusion.h"

#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace dpc {

class Target;

/// The ops that become one kernel, in an order in which they can run.
using KernelOps = llvm::SmallVector<mlir::Operation *>;

/// A block whose ops are to be divided into kernels, and the limits of the division.
struct KernelProblem {
  mlir::Block &block;
  const Target &target;
  /// The most ops that are joined in one kernel.
  int64_t maxOps;
  /// The most ops of an elementwise chain that kernels recompute instead of reading its result. 0:
  /// no chain is recomputed.
  int64_t recomputedOps;

  /// Checks that a kernel may have at least one op and that no number is negative.
  llvm::Error check() const;
};

/// The kernels in an order in which they can run. An op that belongs to no kernel (a view, an
/// update, a collective) is an entry of its own.
struct KernelPlan {
  std::vector<KernelOps> kernels;

  /// Checks that the answer is sound for `problem`. Each op of the block is in exactly one kernel;
  /// ops that cost nothing to compute again may be in none. Views, updates and collectives are
  /// alone. Each kernel has at most one op that computes its result in tiles. Every kernel, and
  /// every op in a kernel, comes after the ops that compute its operands.
  llvm::Error verify(const KernelProblem &problem) const;
};

/// Joins ops into kernels (KernelGroups.h), then lets kernels recompute short elementwise chains
/// (Recomputation.h), for which it adds ops to the block. Fails only if `problem.check()` fails.
llvm::Expected<KernelPlan> planKernels(const KernelProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_FUSION_KERNELPLAN_H

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

/// What to divide into kernels.
struct KernelProblem {
  mlir::Block &block;
  const Target &target;
  /// Most ops that are joined in one kernel.
  int64_t maxOps;
  /// Most ops of a short computation that is repeated in the kernels that need
  /// it; 0 for none.
  int64_t recomputedOps;

  /// Are the numbers sound: at least one op a kernel, no negative one.
  llvm::Error check() const;
};

/// Kernels in an order in which they can run. An op that is no part of a kernel
/// (a view, an update, a collective) is an entry of its own.
struct KernelPlan {
  std::vector<KernelOps> kernels;

  /// Is the answer sound for `problem`: each op of the block in one kernel, of
  /// those that cost nothing to compute again at most one; no view, update or
  /// collective with others; at most one op that makes its result in tiles; and
  /// every kernel, and every op in it, after what it reads.
  llvm::Error verify(const KernelProblem &problem) const;
};

/// Joins ops into kernels (KernelGroups.h), then repeats short computations
/// instead of storing their results (Recomputation.h), for which ops are added
/// to the block. Fails only where `problem.check()` does.
llvm::Expected<KernelPlan> planKernels(const KernelProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_FUSION_KERNELPLAN_H

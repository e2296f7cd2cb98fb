#ifndef DPC_TARGETS_CUDA_GRIDS_DIVIDEDTERMS_H
#define DPC_TARGETS_CUDA_GRIDS_DIVIDEDTERMS_H

#include "targets/CUDA/Grids/GridEmitter.h"

namespace dpc {

/// A reduction to `outer` x `inner` results of `count` terms each. `shares` blocks share the terms
/// of a result. A thread combines terms of `wide` neighbouring results, which divides `inner`, so
/// that their loads are joined. A block computes `lanes` x `wide` neighbouring results, both powers
/// of two, with LaunchPlan::kMaxThreads / `lanes` threads for the terms of each. If neighbouring
/// terms of a result are neighbours in memory, a thread combines `run` of them together, which
/// divides `count`.
struct DividedTerms {
  nn::ReduceKind kind = nn::ReduceKind::sum;
  /// The type of the combined terms.
  mlir::Type type;
  int64_t shares = 1, outer = 1, inner = 1, lanes = 1, count = 1, wide = 1, run = 1;
  /// The number of reductions that the launch computes together, all as the fields say.
  int64_t reductions = 1;
};

/// Combines the terms of each share, and calls `take` with their total. Each of the n threads of a
/// result combines every n-th run of terms of a share. Then the threads' results are combined
/// through shared memory in a fixed order: those of both halves of the threads, of both halves of
/// the first half, and so on. The launch must have LaunchPlan::kMaxThreads threads per block, and a
/// block for each share, each of `outer`, and each `lanes` x `wide` of `inner`. `read` returns the
/// term `first` + `after` of the reduction with this number, in the accumulator of `type`: the term
/// `after` of a run. If `finish` is not null, the thread that has called `take` for some
/// neighbouring results of all reductions then calls `finish` for these results.
void combineDivided(
    GridEmitter &e, const DividedTerms &terms,
    llvm::function_ref<mlir::Value(size_t reduction, LoopEmitter::Index result,
                                   LoopEmitter::Index first, int64_t after)>
        read,
    llvm::function_ref<void(size_t reduction, LoopEmitter::Index share, LoopEmitter::Index result,
                            mlir::Value total)>
        take,
    llvm::function_ref<void(llvm::ArrayRef<LoopEmitter::Index> results)> finish = nullptr);

} // namespace dpc

#endif // DPC_TARGETS_CUDA_GRIDS_DIVIDEDTERMS_H

#ifndef DPC_PASSES_FUSION_RECOMPUTATION_H
#define DPC_PASSES_FUSION_RECOMPUTATION_H

#include "passes/Fusion/KernelPlan.h"

namespace dpc {

/// Lets kernels recompute short elementwise chains instead of reading their results. A kernel
/// recomputes a chain if other kernels compute the chain, if the chain has at most `maxOps` ops, if
/// only elementwise ops and reductions read its result, and if the kernel also reads the inputs of
/// the chain from memory. Computing the chain again is then faster than writing and reading its
/// result. The kernel gets its own copy of the chain: the copies are added to the kernel's ops and
/// to the block.
void recomputeShortChains(std::vector<KernelOps> &kernels, unsigned maxOps);

} // namespace dpc

#endif // DPC_PASSES_FUSION_RECOMPUTATION_H

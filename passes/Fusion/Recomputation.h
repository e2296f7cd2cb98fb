#ifndef DPC_PASSES_FUSION_RECOMPUTATION_H
#define DPC_PASSES_FUSION_RECOMPUTATION_H

#include "passes/Fusion/KernelPlan.h"

namespace dpc {

/// Lets kernels recompute short elementwise chains instead of reading their results. A kernel
/// recomputes a chain if other kernels compute the chain, if the chain has at most `maxOps` ops,
/// and if only elementwise ops, reductions and norms read its result. The kernel must also read the
/// inputs of the chain from memory, or those that it does not read must have fewer bytes than the
/// result and be in memory anyway (for example, the 16-bit value that the chain widens). Instead of
/// being in memory anyway, a value that the chain widens may take the place of the result there.
/// Computing the chain again is then faster than writing and reading its result. The kernel gets
/// its own copy of the chain: the copies are added to the kernel's ops and to the block.
///
/// In the same way, kernels recompute the result of nn.normalize from its operand and its
/// statistics, if the operand is in memory anyway.
void recomputeShortChains(std::vector<KernelOps> &kernels, unsigned maxOps);

} // namespace dpc

#endif // DPC_PASSES_FUSION_RECOMPUTATION_H

#ifndef DPC_PASSES_FUSION_RECOMPUTATION_H
#define DPC_PASSES_FUSION_RECOMPUTATION_H

#include "passes/Fusion/KernelPlan.h"

namespace dpc {

/// Lets kernels recompute short elementwise chains instead of reading their results. If a kernel
/// reads the result of a chain of at most `maxOps` elementwise ops of other kernels, and also
/// reads the inputs of the chain from memory, the kernel gets its own copy of the chain. To compute
/// the chain again is then faster than to write and read its result. Adds the copies to the
/// kernel's ops and to the block.
void recomputeShortChains(std::vector<KernelOps> &kernels, unsigned maxOps);

} // namespace dpc

#endif // DPC_PASSES_FUSION_RECOMPUTATION_H

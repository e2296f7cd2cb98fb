#ifndef DPC_PASSES_FUSION_RECOMPUTATION_H
#define DPC_PASSES_FUSION_RECOMPUTATION_H

#include "passes/Fusion/KernelPlan.h"

namespace dpc {

/// Gives each kernel its own copy of what is a short elementwise computation,
/// of at most `maxOps` ops made in another kernel, on values that it reads from
/// memory anyway: computing again is then faster than writing and reading. Adds
/// the copies to the kernel's ops and to the block.
void recomputeShortChains(std::vector<KernelOps> &kernels, unsigned maxOps);

} // namespace dpc

#endif // DPC_PASSES_FUSION_RECOMPUTATION_H

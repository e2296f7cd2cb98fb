// Searches the offsets of all blocks at once, exactly.

#ifndef DPC_PASSES_MEMORY_WEIGHTEDSEARCH_H
#define DPC_PASSES_MEMORY_WEIGHTEDSEARCH_H

#include "passes/Memory/FirstFit.h"

namespace dpc {

/// Searches offsets at which every block ends at or below `target`. Blocks with a fixed offset
/// keep it. The search is complete: it finds a solution if one exists and `budget`, in visits of
/// (block, step) pairs, lasts. The work done is subtracted from `budget`, which is negative
/// afterwards if it ran out. Returns an empty vector if no solution was found. This search solves
/// complete problems with hardly a byte to spare, on which searchOffsets() does not finish;
/// searchOffsets() is better in small windows.
std::vector<int64_t> searchByWeights(llvm::ArrayRef<MemoryBlock> blocks, int64_t target,
                                     int64_t &budget);

} // namespace dpc

#endif // DPC_PASSES_MEMORY_WEIGHTEDSEARCH_H

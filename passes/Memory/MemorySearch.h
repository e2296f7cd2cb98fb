// Repairs a memory plan by exact search.

#ifndef DPC_PASSES_MEMORY_MEMORYSEARCH_H
#define DPC_PASSES_MEMORY_MEMORYSEARCH_H

#include "passes/Memory/FirstFit.h"

namespace dpc {

/// Searches offsets at which every block ends at or below `target`. Blocks with a fixed offset
/// keep it. The search is complete: it finds a solution if one exists and `budget` lasts. The
/// work done, in visits of (block, step) pairs, is subtracted from `budget`, which is negative
/// afterwards if it ran out. Returns an empty vector if no solution was found.
std::vector<int64_t> searchOffsets(llvm::ArrayRef<MemoryBlock> blocks, int64_t target,
                                   int64_t &budget);

/// Lowers the peak of a sound plan towards `lowerBound`. Searches only the windows of time in
/// which blocks end too high, with all other blocks held in place, and widens a window if its
/// search fails. Keeps the plan sound. `budget` is in the same unit as for searchOffsets().
void repairOffsets(llvm::ArrayRef<MemoryBlock> blocks, int64_t lowerBound, int64_t budget,
                   std::vector<int64_t> &offsets);

} // namespace dpc

#endif // DPC_PASSES_MEMORY_MEMORYSEARCH_H

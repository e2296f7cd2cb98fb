// Searches offsets exactly, to repair a memory plan.

#ifndef DPC_PASSES_MEMORY_MEMORYSEARCH_H
#define DPC_PASSES_MEMORY_MEMORYSEARCH_H

#include "passes/Memory/FirstFit.h"

namespace dpc {

/// Searches offsets at which every block ends at or below `target`. Blocks with a fixed offset keep
/// it. The search is complete: it finds a solution if one exists, if `budget` lasts, and if at most
/// 1000 blocks have no fixed offset. `budget` is a number of visits of (block, step) pairs. The
/// search subtracts its work from `budget`, which becomes negative if it does not last. Returns an
/// empty vector if no solution was found.
std::vector<int64_t> searchOffsets(llvm::ArrayRef<MemoryBlock> blocks, int64_t target,
                                   int64_t &budget);

/// Lowers the peak of a sound plan towards `lowerBound`, and keeps the plan sound. Searches only
/// the windows of time in which blocks end too high, while all other blocks keep their offsets. If
/// the search of a window fails, the window is widened. `budget` has the same unit as in
/// searchOffsets().
void repairOffsets(llvm::ArrayRef<MemoryBlock> blocks, int64_t lowerBound, int64_t budget,
                   std::vector<int64_t> &offsets);

} // namespace dpc

#endif // DPC_PASSES_MEMORY_MEMORYSEARCH_H

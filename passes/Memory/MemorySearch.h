// Exact repair of a memory plan.

#ifndef DPC_PASSES_MEMORY_MEMORYSEARCH_H
#define DPC_PASSES_MEMORY_MEMORYSEARCH_H

#include "passes/Memory/FirstFit.h"

namespace dpc {

/// Searches offsets so that every block ends at or below `target`. Blocks with
/// a fixed offset stay. Complete: it finds a solution if one exists and
/// `budget` lasts; the work done is taken from `budget`, which is negative
/// afterwards if it ran out. Returns an empty vector where nothing was found.
std::vector<int64_t> searchOffsets(llvm::ArrayRef<MemoryBlock> blocks, int64_t target,
                                   int64_t &budget);

/// Lowers the peak of a sound plan towards `lowerBound` by searching only the
/// windows of time whose blocks end too high, all else held in place, and
/// widening a window where that fails. Keeps the plan sound. `budget` as above.
void repairOffsets(llvm::ArrayRef<MemoryBlock> blocks, int64_t lowerBound, int64_t budget,
                   std::vector<int64_t> &offsets);

} // namespace dpc

#endif // DPC_PASSES_MEMORY_MEMORYSEARCH_H

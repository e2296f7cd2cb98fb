// Searches the offsets of all blocks of a region together, by an exact search.

#ifndef DPC_PASSES_MEMORY_WEIGHTEDSEARCH_H
#define DPC_PASSES_MEMORY_WEIGHTEDSEARCH_H

#include "passes/Memory/FirstFit.h"

namespace dpc {

/// Searches offsets at which every block ends at or below `target`. Blocks with a fixed offset keep
/// it. The search is complete: it finds a solution if one exists, if `budget` lasts, and if at most
/// 1000 blocks have no fixed offset. `budget` is a number of visits of (block, step) pairs. The
/// search subtracts its work from `budget`, which becomes negative if it does not last. Returns an
/// empty vector if no solution was found.
///
/// This search solves large problems that leave hardly a byte to spare, on which searchOffsets()
/// does not finish. For small windows of time, searchOffsets() is the better search.
std::vector<int64_t> searchByWeights(llvm::ArrayRef<MemoryBlock> blocks, int64_t target,
                                     int64_t &budget);

} // namespace dpc

#endif // DPC_PASSES_MEMORY_WEIGHTEDSEARCH_H

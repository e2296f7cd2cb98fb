// Exact search of all offsets at once.

#ifndef DPC_PASSES_MEMORY_WEIGHTEDSEARCH_H
#define DPC_PASSES_MEMORY_WEIGHTEDSEARCH_H

#include "passes/Memory/FirstFit.h"

namespace dpc {

/// Searches offsets so that every block ends at or below `target`. Blocks with
/// a fixed offset stay. Complete: it finds a solution if one exists and
/// `budget`, in visits of (block, step) pairs, lasts; the work done is taken
/// from it, and it is negative afterwards if it ran out. Returns an empty vector
/// where nothing was found. It solves whole problems that have hardly a byte to
/// spare, where searchOffsets() is lost; that one is better in small windows.
std::vector<int64_t> searchByWeights(llvm::ArrayRef<MemoryBlock> blocks, int64_t target,
                                     int64_t &budget);

} // namespace dpc

#endif // DPC_PASSES_MEMORY_WEIGHTEDSEARCH_H

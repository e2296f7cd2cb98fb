// Byte offsets of all buffers.
//
// Static memory allocation: buffers with known lifetimes get offsets so that
// the arena is small. First fit (Pisarchyk & Lee, "Efficient Memory Management
// for Deep Neural Net Inference", 2020), then exact repair of the windows that
// stay above the lower bound (after Moffitt, "MiniMalloc", ASPLOS 2023). Where
// first fit exceeds a region's capacity, all of it is searched exactly first.

#ifndef DPC_PASSES_MEMORY_MEMORYPLAN_H
#define DPC_PASSES_MEMORY_MEMORYPLAN_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace dpc {

/// A buffer and the steps of the final order during which it holds data.
struct LiveBuffer {
  /// Bytes; 0 is allowed.
  int64_t size = 0;
  /// Bytes; a power of two.
  int64_t alignment = 64;
  /// Live in steps [firstUse, lastUse).
  int64_t firstUse = 0;
  int64_t lastUse = 0;
  /// Index into MemoryProblem::regions.
  int64_t region = 0;
  /// Byte offset the buffer must have, for storage placed by someone else.
  std::optional<int64_t> fixedOffset;
  /// Index of a buffer this one may replace in place, -1 for none. The
  /// permission counts only where that buffer dies in the step that creates
  /// this one (lastUse == firstUse + 1); they then may have one offset.
  int64_t inPlaceOf = -1;
};

/// An arena of its own: private memory, shared memory, device memory.
struct MemoryRegion {
  std::string name;
  /// Bytes that exist; compared with the peak.
  int64_t capacity = std::numeric_limits<int64_t>::max();
};

/// What to place.
struct MemoryProblem {
  std::vector<LiveBuffer> buffers;
  std::vector<MemoryRegion> regions = {MemoryRegion()};

  /// Is the problem sound: lifetimes not empty, powers of two, sums that cannot
  /// overflow, fixed buffers aligned and apart, references that exist.
  llvm::Error check() const;

  /// May `output` lie at the same offset as the buffer it names in inPlaceOf?
  bool mayShare(const LiveBuffer &output) const;
};

/// What one region needs.
struct RegionUse {
  /// Bytes of the arena: the largest end of a buffer, rounded up to the
  /// smallest alignment in the region.
  int64_t peak = 0;
  /// No plan needs less: the largest sum of live bytes at a step, where a
  /// buffer that may be replaced in place and its successor count as the larger
  /// one. The plan is optimal where peak equals it.
  int64_t lowerBound = 0;
  /// Peak before the exact repair.
  int64_t firstFitPeak = 0;
};

/// Where every buffer lies.
struct MemoryPlan {
  /// Byte offset of each buffer in its region.
  std::vector<int64_t> offsets;
  std::vector<RegionUse> regions;

  /// Is the answer sound for `problem`: no two buffers live in one step share a
  /// byte (in-place pairs excepted), offsets aligned and fixed ones kept, the
  /// recorded peak true, every region within its capacity.
  llvm::Error verify(const MemoryProblem &problem) const;
};

struct MemoryPlanOptions {
  /// Work of the exact repair, in visits of (buffer, step) pairs, for each
  /// region: a count, not a time, so that every rank finds the same plan. As
  /// much again is spent on a plan within the region's capacity where first fit
  /// is above it. 0: first fit alone.
  int64_t searchBudget = 100'000'000;
};

/// Returns the plan with the smallest peak found. A plan above the capacity is
/// returned too, so that the caller learns by how much; its verify() fails.
/// Fails only where `problem.check()` does.
llvm::Expected<MemoryPlan> planMemory(const MemoryProblem &problem,
                                      const MemoryPlanOptions &options = {});

} // namespace dpc

#endif // DPC_PASSES_MEMORY_MEMORYPLAN_H

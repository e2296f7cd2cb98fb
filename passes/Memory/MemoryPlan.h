// Chooses the byte offsets of all buffers.
//
// This is static memory allocation: buffers with known lifetimes get offsets so that the arena is
// small. First fit (Pisarchyk & Lee, "Efficient Memory Management for Deep Neural Net Inference",
// 2020) makes a plan. An exact search (after Moffitt, "MiniMalloc", ASPLOS 2023) then repairs the
// windows of time that are above the lower bound. If first fit exceeds the capacity of a region,
// all blocks of the region are first searched exactly for a plan within the capacity.

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
  /// The byte offset that the buffer must have, if the caller has already placed it.
  std::optional<int64_t> fixedOffset;
  /// Index of the buffer that this one may replace in place, -1 for none. The permission counts
  /// only if the last use of that buffer is the step that creates this one (its lastUse is
  /// firstUse + 1). Both buffers may then have the same offset.
  int64_t inPlaceOf = -1;
};

/// An address space with its own offsets: private, shared or device memory.
struct MemoryRegion {
  std::string name;
  /// The bytes that the region has. A plan whose peak is larger fails to verify.
  int64_t capacity = std::numeric_limits<int64_t>::max();
};

/// The buffers to place, and the regions to place them in.
struct MemoryProblem {
  std::vector<LiveBuffer> buffers;
  std::vector<MemoryRegion> regions = {MemoryRegion()};

  /// Checks that lifetimes are not empty, that alignments are powers of two, that sums of bytes
  /// cannot overflow, that fixed buffers are aligned and do not overlap, and that indices exist.
  llvm::Error check() const;

  /// Whether `output` may lie at the same offset as the buffer that its inPlaceOf names.
  bool mayShare(const LiveBuffer &output) const;
};

/// The memory that the plan uses in one region.
struct RegionUse {
  /// Bytes of the arena: the largest end of a buffer, rounded up to the
  /// smallest alignment in the region.
  int64_t peak = 0;
  /// No plan has a smaller peak. This is the largest sum of live bytes at a step. In the step
  /// that the buffers of an in-place pair share, only the larger one counts. A plan whose peak
  /// equals the bound is optimal.
  int64_t lowerBound = 0;
  /// The peak before the exact repair, to see what the repair gains.
  int64_t firstFitPeak = 0;
};

/// The offsets of all buffers, and the memory that they use.
struct MemoryPlan {
  /// Byte offset of each buffer in its region.
  std::vector<int64_t> offsets;
  std::vector<RegionUse> regions;

  /// Checks that the answer is sound for `problem`. No two buffers that are live in the same step
  /// share a byte, except in-place pairs. Offsets are aligned, and fixed offsets are kept. The
  /// recorded peaks are correct, and every region is within its capacity.
  llvm::Error verify(const MemoryProblem &problem) const;
};

struct MemoryPlanOptions {
  /// The work that the exact repair of one region may do, in visits of (buffer, step) pairs. It
  /// is a count, not a time, so that every compilation finds the same plan. If first fit exceeds
  /// the capacity of the region, the search for a plan within the capacity may do as much work
  /// again. 0: first fit only.
  int64_t searchBudget = 100'000'000;
};

/// Returns the plan with the smallest peak that was found. A plan above the capacity is also
/// returned, so that the caller can report the excess; its verify() fails. Fails only if
/// `problem.check()` fails.
llvm::Expected<MemoryPlan> planMemory(const MemoryProblem &problem,
                                      const MemoryPlanOptions &options = {});

} // namespace dpc

#endif // DPC_PASSES_MEMORY_MEMORYPLAN_H

// Chooses the byte offsets of all buffers.
//
// This is static memory allocation: the lifetimes of all buffers are known, and the offsets are
// chosen so that the arena is small. The planner works in two stages. First fit (Pisarchyk & Lee,
// "Efficient Memory Management for Deep Neural Net Inference", 2020) makes a plan. Then an exact
// search (after Moffitt, "MiniMalloc", ASPLOS 2023) repairs the windows of time in which the plan
// is above the lower bound.
//
// If the plan of first fit exceeds the capacity of a region, another exact search runs before the
// repair. It searches all blocks of the region together for a plan within the capacity.

#ifndef DPC_PASSES_MEMORY_MEMORYPLAN_H
#define DPC_PASSES_MEMORY_MEMORYPLAN_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace dpc {

/// A buffer, and the steps of the final order during which it holds data.
struct LiveBuffer {
  /// In bytes; 0 is allowed.
  int64_t size = 0;
  /// In bytes; a power of two.
  int64_t alignment = 64;
  /// The buffer is live in steps [firstUse, lastUse).
  int64_t firstUse = 0;
  int64_t lastUse = 0;
  /// The index of the buffer's region in MemoryProblem::regions.
  int64_t region = 0;
  /// The byte offset that the buffer must have, if the caller has already placed the buffer.
  std::optional<int64_t> fixedOffset;
  /// The index of a buffer that this buffer may replace in place; -1 if there is none. Both buffers
  /// may then have the same offset. The permission holds only if the other buffer is last used in
  /// the step that creates this buffer: its lastUse is this buffer's firstUse + 1.
  int64_t inPlaceOf = -1;
};

/// An address space, e.g. private or shared memory. Its offsets are independent of other spaces.
struct MemoryRegion {
  std::string name;
  /// The number of bytes that the region has. A plan whose peak is larger fails to verify.
  int64_t capacity = std::numeric_limits<int64_t>::max();
};

/// The buffers that need offsets, and the regions in which they lie.
struct MemoryProblem {
  std::vector<LiveBuffer> buffers;
  std::vector<MemoryRegion> regions = {MemoryRegion()};

  /// Checks that lifetimes are not empty, that alignments are powers of two, and that sums of bytes
  /// cannot overflow. Also checks that fixed buffers are aligned and do not overlap, and that all
  /// indices exist.
  llvm::Error check() const;

  /// Whether `output` may have the same offset as the buffer with the index `output.inPlaceOf`.
  bool mayShare(const LiveBuffer &output) const;
};

/// The memory that a plan uses in one region.
struct RegionUse {
  /// Bytes that the plan needs: the largest end of a buffer, rounded up to the smallest alignment
  /// in the region.
  int64_t peak = 0;
  /// A lower bound of the peak of any plan: the largest sum of the sizes of the live buffers at a
  /// step, or the largest end of a buffer with a fixed offset if that is larger. The two buffers of
  /// an in-place pair (LiveBuffer::inPlaceOf) share one step, and in this step only the larger one
  /// counts. A plan whose peak equals the bound is optimal.
  int64_t lowerBound = 0;
  /// The peak before the exact repair, to show how much the repair gains.
  int64_t firstFitPeak = 0;
};

/// The offsets of all buffers, and the memory that they use.
struct MemoryPlan {
  /// The byte offset of each buffer in its region.
  std::vector<int64_t> offsets;
  std::vector<RegionUse> regions;

  /// Checks that the answer is sound for `problem`. If two buffers are live in the same step, they
  /// share no byte, unless they are an in-place pair. Offsets are aligned, and fixed offsets are
  /// kept. The recorded peaks are correct, and every region is within its capacity.
  llvm::Error verify(const MemoryProblem &problem) const;
};

struct MemoryPlanOptions {
  /// The work that the exact repair of one region may do for each way to join in-place pairs, as a
  /// number of visits of (block, step) pairs. A limit of time would let compilations of the same
  /// program find different plans. If first fit exceeds the capacity of the region, the search for
  /// a plan within the capacity may do the same amount of work in addition. If the budget is 0,
  /// only first fit runs.
  int64_t searchBudget = 100'000'000;
};

/// Returns the plan with the smallest peak that was found. If this plan exceeds a capacity, it is
/// returned too, and its verify() fails. The caller can then report the excess. Fails only if
/// `problem.check()` fails.
llvm::Expected<MemoryPlan> planMemory(const MemoryProblem &problem,
                                      const MemoryPlanOptions &options = {});

} // namespace dpc

#endif // DPC_PASSES_MEMORY_MEMORYPLAN_H

// Chooses the byte offsets of all buffers.
//
// Handles one region after another. Builds blocks from the buffers. A buffer and the buffer that is
// computed in its place (an in-place pair) may form one block; several ways to join pairs are
// tried. Computes the lower bound of the peak, and runs first fit and the exact repair.
// FirstFit.cpp, MemorySearch.cpp and WeightedSearch.cpp name the sources of the algorithms.

#include "passes/Memory/MemoryPlan.h"
#include "passes/Memory/MemorySearch.h"
#include "passes/Memory/WeightedSearch.h"
#include "planning/PlanError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <limits>
#include <map>

using namespace dpc;
using llvm::Error;

namespace {

/// Returns, for each buffer, the buffer that is computed in its place; -1 if there is none. Of
/// several candidates, takes the largest. Of several largest candidates, takes the first.
std::vector<int64_t> findSuccessors(const MemoryProblem &problem) {
  std::vector<int64_t> successors(problem.buffers.size(), -1);
  for (auto [i, buffer] : llvm::enumerate(problem.buffers)) {
    if (!problem.mayShare(buffer))
      continue;
    int64_t &successor = successors[buffer.inPlaceOf];
    if (successor < 0 || problem.buffers[successor].size < buffer.size)
      successor = i;
  }
  return successors;
}

/// The in-place pairs that become one block each: all pairs, pairs of buffers with equal sizes, or
/// no pairs.
enum class Join { all, equal, none };

/// The blocks of one region, and the index of each buffer's block.
struct Blocks {
  std::vector<MemoryBlock> blocks;
  std::vector<int64_t> blockOf; // by buffer; -1 if the buffer is in another region or has no bytes
};

int64_t smallestAlignment(const MemoryProblem &problem, int64_t region) {
  int64_t smallest = 0;
  for (const LiveBuffer &buffer : problem.buffers)
    if (buffer.region == region && (!smallest || buffer.alignment < smallest))
      smallest = buffer.alignment;
  return smallest ? smallest : 1;
}

/// Builds the blocks of one region. All offsets are multiples of the region's smallest alignment.
/// No plan can use the bytes between the end of a block and the next multiple, so sizes are rounded
/// up to this alignment.
Blocks makeBlocks(const MemoryProblem &problem, int64_t region, llvm::ArrayRef<int64_t> successors,
                  Join join) {
  Blocks result;
  result.blockOf.assign(problem.buffers.size(), -1);
  int64_t unit = smallestAlignment(problem, region);
  std::vector<size_t> order;
  for (auto [i, buffer] : llvm::enumerate(problem.buffers))
    if (buffer.region == region && buffer.size)
      order.push_back(i);
  // A buffer must come before the buffer that is computed in its place, because the latter may join
  // the block of the former.
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return problem.buffers[a].firstUse < problem.buffers[b].firstUse;
  });
  for (size_t i : order) {
    const LiveBuffer &buffer = problem.buffers[i];
    int64_t size = llvm::alignTo(buffer.size, unit);
    bool takesPlace =
        problem.mayShare(buffer) && successors[buffer.inPlaceOf] == static_cast<int64_t>(i);
    bool joins =
        takesPlace && !buffer.fixedOffset && !problem.buffers[buffer.inPlaceOf].fixedOffset &&
        (join == Join::all ||
         (join == Join::equal && result.blocks[result.blockOf[buffer.inPlaceOf]].size == size));
    if (joins) {
      result.blockOf[i] = result.blockOf[buffer.inPlaceOf];
      MemoryBlock &block = result.blocks[result.blockOf[i]];
      block.size = std::max(block.size, size);
      block.alignment = std::max(block.alignment, buffer.alignment);
      block.last = buffer.lastUse;
      continue;
    }
    result.blockOf[i] = result.blocks.size();
    result.blocks.push_back(
        {size, buffer.alignment, buffer.firstUse, buffer.lastUse, buffer.fixedOffset});
    // Both buffers of this pair are fixed at the same offset and are live in one common step. The
    // lifetime of the smaller buffer's block is shortened by this step, so that the two blocks do
    // not overlap.
    if (takesPlace && buffer.fixedOffset &&
        buffer.fixedOffset == problem.buffers[buffer.inPlaceOf].fixedOffset) {
      MemoryBlock &replaced = result.blocks[result.blockOf[buffer.inPlaceOf]];
      (replaced.size < size ? replaced.last : result.blocks.back().first) +=
          replaced.size < size ? -1 : 1;
    }
  }
  return result;
}

/// Computes RegionUse::lowerBound. The buffers of an in-place pair share one step, in which only
/// the larger buffer counts.
int64_t findLowerBound(const MemoryProblem &problem, int64_t region,
                       llvm::ArrayRef<int64_t> successors) {
  std::vector<MemoryBlock> counted;
  int64_t unit = smallestAlignment(problem, region);
  int64_t bound = 0;
  for (auto [i, buffer] : llvm::enumerate(problem.buffers)) {
    if (buffer.region != region || !buffer.size)
      continue;
    MemoryBlock block{int64_t(llvm::alignTo(buffer.size, unit)), buffer.alignment, buffer.firstUse,
                      buffer.lastUse, std::nullopt};
    if (buffer.fixedOffset)
      bound = std::max(bound, *buffer.fixedOffset + block.size);
    int64_t successor = successors[i];
    if (successor >= 0 && problem.buffers[successor].size >= buffer.size)
      --block.last;
    if (problem.mayShare(buffer) && successors[buffer.inPlaceOf] == static_cast<int64_t>(i) &&
        problem.buffers[buffer.inPlaceOf].size > buffer.size)
      ++block.first;
    if (block.first < block.last)
      counted.push_back(block);
  }
  return std::max(bound, maxLoad(counted));
}

Error checkBuffer(const MemoryProblem &problem, size_t index) {
  const LiveBuffer &buffer = problem.buffers[index];
  int64_t count = problem.buffers.size();
  if (buffer.size < 0)
    return planError("buffer {0} has {1} bytes", index, buffer.size);
  if (buffer.alignment <= 0 || !llvm::isPowerOf2_64(buffer.alignment))
    return planError("buffer {0} has alignment {1}, not a power of two", index, buffer.alignment);
  if (buffer.firstUse >= buffer.lastUse)
    return planError("buffer {0} has the empty lifetime [{1}, {2})", index, buffer.firstUse,
                     buffer.lastUse);
  if (buffer.region < 0 || buffer.region >= static_cast<int64_t>(problem.regions.size()))
    return planError("buffer {0} lies in region {1} of {2}", index, buffer.region,
                     problem.regions.size());
  if (buffer.inPlaceOf < -1 || buffer.inPlaceOf >= count ||
      buffer.inPlaceOf == static_cast<int64_t>(index))
    return planError("buffer {0} of {1} is in place of buffer {2}", index, count, buffer.inPlaceOf);
  if (buffer.fixedOffset && (*buffer.fixedOffset < 0 || *buffer.fixedOffset % buffer.alignment))
    return planError("buffer {0} is fixed at byte {1}, not a multiple of {2}", index,
                     *buffer.fixedOffset, buffer.alignment);
  return Error::success();
}

/// The buffers of one region that are live in one step, by offset. They do not overlap. As an
/// exception, the two buffers of an in-place pair may have the same offset in their common step.
using LiveByOffset = std::multimap<int64_t, size_t>;

/// Returns the buffers of `live` that share a byte with [begin, end), sorted by index.
template <typename EndOf>
std::vector<size_t> findOverlaps(const LiveByOffset &live, int64_t begin, int64_t end,
                                 EndOf endOf) {
  std::vector<size_t> found;
  auto each = live.lower_bound(begin);
  if (each != live.begin())
    each = live.lower_bound(std::prev(each)->first);
  for (; each != live.end() && each->first < end; ++each)
    if (endOf(each->second) > begin)
      found.push_back(each->second);
  llvm::sort(found);
  return found;
}

/// Returns an error if two buffers that are live in the same step share a byte and are not an
/// in-place pair with equal offsets. Considers only buffers for which `known` is true.
template <typename Known, typename OffsetOf>
Error findClash(const MemoryProblem &problem, Known known, OffsetOf offsetOf) {
  std::vector<size_t> order;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (problem.buffers[i].size && known(i))
      order.push_back(i);
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return problem.buffers[a].firstUse < problem.buffers[b].firstUse;
  });
  auto endOf = [&](size_t i) { return offsetOf(i) + problem.buffers[i].size; };
  std::vector<LiveByOffset> live(problem.regions.size());
  std::multimap<int64_t, std::pair<int64_t, LiveByOffset::iterator>>
      deaths; // region and buffer, by last use
  for (size_t i : order) {
    const LiveBuffer &buffer = problem.buffers[i];
    while (!deaths.empty() && deaths.begin()->first <= buffer.firstUse) {
      auto [region, dead] = deaths.begin()->second;
      live[region].erase(dead);
      deaths.erase(deaths.begin());
    }
    bool shared = false;
    for (size_t j : findOverlaps(live[buffer.region], offsetOf(i), endOf(i), endOf)) {
      if (!shared && buffer.inPlaceOf == static_cast<int64_t>(j) && problem.mayShare(buffer) &&
          offsetOf(i) == offsetOf(j)) {
        shared = true;
        continue;
      }
      return planError("buffers {0} at [{1}, {2}) and {3} at [{4}, {5}) are "
                       "both live in step {6}",
                       j, offsetOf(j), endOf(j), i, offsetOf(i), endOf(i), buffer.firstUse);
    }
    deaths.insert({buffer.lastUse, {buffer.region, live[buffer.region].insert({offsetOf(i), i})}});
  }
  return Error::success();
}

} // namespace

bool MemoryProblem::mayShare(const LiveBuffer &output) const {
  if (output.inPlaceOf < 0 || !output.size)
    return false;
  const LiveBuffer &input = buffers[output.inPlaceOf];
  return input.size && input.region == output.region && input.firstUse < output.firstUse &&
         input.lastUse == output.firstUse + 1;
}

Error MemoryProblem::check() const {
  for (const MemoryRegion &region : regions)
    if (region.capacity < 0)
      return planError("region '{0}' has a capacity of {1} bytes", region.name, region.capacity);
  for (size_t i = 0; i < buffers.size(); ++i)
    if (Error error = checkBuffer(*this, i))
      return error;
  // An upper bound of the end of the worst plan, in which all buffers lie one after another.
  int64_t total = 0;
  for (const LiveBuffer &buffer : buffers)
    if (llvm::AddOverflow(total, buffer.size, total) ||
        llvm::AddOverflow(total, buffer.alignment, total) ||
        llvm::AddOverflow(total, buffer.alignment, total) ||
        llvm::AddOverflow(total, buffer.fixedOffset.value_or(0), total))
      return planError("{0} buffers need more than 63 bits of bytes", buffers.size());
  return findClash(
      *this, [&](size_t i) { return buffers[i].fixedOffset.has_value(); },
      [&](size_t i) { return *buffers[i].fixedOffset; });
}

Error MemoryPlan::verify(const MemoryProblem &problem) const {
  if (offsets.size() != problem.buffers.size())
    return planError("the plan has {0} offsets for {1} buffers", offsets.size(),
                     problem.buffers.size());
  if (regions.size() != problem.regions.size())
    return planError("the plan has {0} regions of {1}", regions.size(), problem.regions.size());
  std::vector<int64_t> ends(regions.size());
  for (auto [i, buffer] : llvm::enumerate(problem.buffers)) {
    if (offsets[i] < 0 || offsets[i] % buffer.alignment)
      return planError("buffer {0} lies at byte {1}, not a multiple of {2}", i, offsets[i],
                       buffer.alignment);
    if (buffer.fixedOffset && *buffer.fixedOffset != offsets[i])
      return planError("buffer {0} lies at byte {1} but is fixed at {2}", i, offsets[i],
                       *buffer.fixedOffset);
    if (buffer.size)
      ends[buffer.region] = std::max(ends[buffer.region], offsets[i] + buffer.size);
  }
  for (size_t i = 0; i < regions.size(); ++i) {
    int64_t peak = llvm::alignTo(ends[i], smallestAlignment(problem, i));
    if (regions[i].peak != peak)
      return planError("region '{0}' records a peak of {1} bytes, its buffers "
                       "need {2}",
                       problem.regions[i].name, regions[i].peak, peak);
    if (regions[i].lowerBound > peak)
      return planError("region '{0}' has a peak of {1} bytes, below its lower "
                       "bound of {2}",
                       problem.regions[i].name, peak, regions[i].lowerBound);
    if (peak > problem.regions[i].capacity)
      return planError("region '{0}' needs {1} bytes of {2}", problem.regions[i].name, peak,
                       problem.regions[i].capacity);
  }
  return findClash(problem, [](size_t) { return true; }, [&](size_t i) { return offsets[i]; });
}

llvm::Expected<MemoryPlan> dpc::planMemory(const MemoryProblem &problem,
                                           const MemoryPlanOptions &options) {
  if (Error error = problem.check())
    return std::move(error);
  MemoryPlan plan;
  plan.offsets.resize(problem.buffers.size());
  std::vector<int64_t> successors = findSuccessors(problem);
  bool hasPairs = llvm::any_of(successors, [](int64_t s) { return s >= 0; });
  for (size_t region = 0; region < problem.regions.size(); ++region) {
    RegionUse use;
    use.lowerBound = findLowerBound(problem, region, successors);
    int64_t capacity = problem.regions[region].capacity, unit = smallestAlignment(problem, region);
    use.peak = use.firstFitPeak = std::numeric_limits<int64_t>::max();
    // Joining a pair can cost memory, if its two buffers differ in size or if separate offsets
    // would be better. Also, a repair keeps much of the plan from which it starts. Therefore
    // several ways to join and several first plans are tried.
    for (Join join : {Join::all, Join::equal, Join::none}) {
      if (use.peak <= use.lowerBound || (join != Join::all && !hasPairs))
        break;
      Blocks made = makeBlocks(problem, region, successors, join);
      auto starts = firstFit(made.blocks, use.lowerBound);
      int64_t share = options.searchBudget / starts.size();
      use.firstFitPeak = std::min(use.firstFitPeak, largestEnd(made.blocks, starts.front()));
      // A plan above the capacity is useless, even if the excess is small. If no plan so far is
      // within the capacity, search for a plan within the capacity before any repair.
      int64_t fits = capacity / unit * unit;
      if (options.searchBudget > 0 && use.lowerBound <= fits &&
          std::min(use.peak, use.firstFitPeak) > fits) {
        int64_t left = options.searchBudget;
        std::vector<int64_t> found = searchByWeights(made.blocks, fits, left);
        if (!found.empty())
          starts.insert(starts.begin(), std::move(found));
      }
      for (std::vector<int64_t> &offsets : starts) {
        repairOffsets(made.blocks, use.lowerBound, share, offsets);
        int64_t peak = largestEnd(made.blocks, offsets);
        if (peak >= use.peak)
          continue;
        use.peak = peak;
        for (auto [i, block] : llvm::enumerate(made.blockOf))
          if (block >= 0)
            plan.offsets[i] = offsets[block];
        if (use.peak <= use.lowerBound)
          break;
      }
    }
    plan.regions.push_back(use);
  }
  for (auto [i, buffer] : llvm::enumerate(problem.buffers))
    if (buffer.fixedOffset)
      plan.offsets[i] = *buffer.fixedOffset;
  return plan;
}

#ifndef DPC_RUNTIME_SRC_PIECES_SEGMENTS_H
#define DPC_RUNTIME_SRC_PIECES_SEGMENTS_H

#include "dpc/records.h"
#include "dpc/status.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dpc {

/// A set of elements of a tensor (global, row-major). For each i < count[0] and j <
/// count[1], it has the `length` elements from begin + i*step[0] + j*step[1] on. A
/// dpc_run_t maps elements of a buffer to such a set.
struct Segments {
  uint64_t begin = 0, length = 0;
  uint64_t count[2] = {1, 1};
  uint64_t step[2] = {0, 0};

  uint64_t elements() const { return length * count[0] * count[1]; }
  bool operator==(const Segments &other) const;
};

/// The elements of a tensor that a rank holds, in the order of its buffer.
std::vector<Segments> segmentsOf(const dpc_placement_t &placement);

uint64_t elementsOf(const std::vector<Segments> &all);

/// Describes the same elements with fewer segments, and perhaps in another order.
/// Contiguous ranges of equal length at equal distances become one segment.
std::vector<Segments> compacted(const std::vector<Segments> &all);

/// Elements [begin, end) of a tensor.
struct Interval {
  uint64_t begin, end;
};

/// Converts ascending, disjoint intervals to as few segments as compacted() finds.
std::vector<Segments> segmentsOf(const std::vector<Interval> &intervals);

/// Calls visit(global, length, position) for each contiguous range of elements that
/// lie in [low, high) and belong to `each`. The range is [global, global + length)
/// of the tensor. `position` is the index of its first element among those of `each`.
template <typename Visit>
void forEachOverlap(const Segments &each, uint64_t low, uint64_t high, Visit visit) {
  // Range k of `count` ranges has `span` elements and starts at from + k * step.
  // Finds the indices [first, last) of the ranges that may overlap [low, high).
  auto choose = [&](uint64_t from, uint64_t step, uint64_t count, uint64_t span, uint64_t *first,
                    uint64_t *last) {
    *first = 0, *last = from < high ? count : 0;
    if (step == 0 || from >= high)
      return;
    if (low >= from + span)
      *first = (low - from - span) / step + 1;
    *last = std::min(count, (high - 1 - from) / step + 1);
  };
  uint64_t i, iEnd, j, jEnd;
  choose(each.begin, each.step[0], each.count[0], each.length + (each.count[1] - 1) * each.step[1],
         &i, &iEnd);
  for (; i < iEnd; ++i) {
    const uint64_t row = each.begin + i * each.step[0];
    choose(row, each.step[1], each.count[1], each.length, &j, &jEnd);
    for (; j < jEnd; ++j) {
      const uint64_t start = row + j * each.step[1];
      const uint64_t from = std::max(start, low), end = std::min(start + each.length, high);
      if (from < end)
        visit(from, end - from, (i * each.count[1] + j) * each.length + (from - start));
    }
  }
}

/// Like the other forEachOverlap, for a list of segments. `position` counts the
/// elements of all segments, in the order of the list.
template <typename Visit>
void forEachOverlap(const std::vector<Segments> &all, uint64_t low, uint64_t high, Visit visit) {
  uint64_t before = 0;
  for (const Segments &each : all) {
    forEachOverlap(each, low, high, [&](uint64_t global, uint64_t length, uint64_t position) {
      visit(global, length, before + position);
    });
    before += each.elements();
  }
}

/// Checks that the pieces together contain each element of a tensor exactly once, and
/// returns DPC_INVALID otherwise. The message does not name the tensor. If an element
/// is missing, the message names the first one. The pieces may come from an untrusted
/// file and have any contents.
dpc_status_t checkCover(const std::vector<const std::vector<Segments> *> &pieces,
                        uint64_t elements);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_SEGMENTS_H

#ifndef DPC_PASSES_REMAT_REMATCHOICES_H
#define DPC_PASSES_REMAT_REMATCHOICES_H

#include "passes/Remat/RematUses.h"

namespace dpc {

/// One answer for a segment: the ops that the backward pass repeats, the bytes that are kept, and
/// the time that the repeated ops take.
struct SegmentChoice {
  std::vector<int64_t> repeated;
  /// In the units that SegmentChoices chooses for its problem.
  int64_t bytes = 0, ticks = 0;
};

/// The answers for each segment of a problem that are optimal at some price of time. They range
/// from the answer that takes no time to the answer that keeps the fewest bytes.
class SegmentChoices {
public:
  /// `stays` says of each value whether it is never rematerialized.
  SegmentChoices(const RematProblem &problem, const RematUses &uses,
                 const std::vector<int64_t> &cuts, const std::vector<bool> &stays);

  /// Ascending in `ticks` and descending in `bytes`. Each step to the next answer takes more ticks
  /// per byte that it saves than the step before.
  std::vector<SegmentChoice> of(int64_t segment) const;
  /// The first and the last answer of `of(segment)`, without the answers between them.
  SegmentChoice fastest(int64_t segment) const;
  SegmentChoice smallest(int64_t segment) const;

private:
  class Cut;

  /// The answer with the lowest total cost, at these prices of a unit of bytes and of a tick.
  SegmentChoice solve(int64_t segment, int64_t bytePrice, int64_t tickPrice) const;
  void refine(int64_t segment, const SegmentChoice &fast, const SegmentChoice &small,
              std::vector<SegmentChoice> &answers) const;

  const RematProblem &problem;
  const RematUses &uses;
  const std::vector<int64_t> &cuts;
  /// `bytes` is indexed by value and `ticks` by op, both in units.
  std::vector<int64_t> bytes, ticks;
  int64_t allBytes = 1, allTicks = 1;
  /// By value: whether it crosses a cut or is kept for another reason, and is never rematerialized.
  std::vector<bool> stays;
};

} // namespace dpc

#endif // DPC_PASSES_REMAT_REMATCHOICES_H

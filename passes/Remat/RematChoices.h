#ifndef DPC_PASSES_REMAT_REMATCHOICES_H
#define DPC_PASSES_REMAT_REMATCHOICES_H

#include "passes/Remat/RematUses.h"

namespace dpc {

/// One answer for a segment: the ops that the backward pass repeats, the bytes that are kept, and
/// the time that the repeated ops take.
struct SegmentChoice {
  std::vector<int64_t> repeated;
  /// `bytes` and `ticks` count in the units that SegmentChoices chooses for its problem.
  int64_t bytes = 0, ticks = 0;
};

/// The answers for each segment of a problem. A tick is a unit of time. Each answer is optimal for
/// some price of a tick in bytes. The answers range from the one that takes no time to the one that
/// keeps the fewest bytes.
class SegmentChoices {
public:
  /// `stays[value]`: whether the value is never rematerialized.
  SegmentChoices(const RematProblem &problem, const RematUses &uses,
                 const std::vector<int64_t> &cuts, const std::vector<bool> &stays);

  /// Returns the answers of a segment, ascending in `ticks` and descending in `bytes`. Each answer
  /// saves bytes compared with the one before it. The ticks per saved byte grow from answer to
  /// answer.
  std::vector<SegmentChoice> of(int64_t segment) const;
  /// The first and the last answer of `of(segment)`, without the answers between them.
  SegmentChoice fastest(int64_t segment) const;
  SegmentChoice smallest(int64_t segment) const;

private:
  class Cut;

  /// Returns the answer with the lowest total cost if a unit of bytes costs `bytePrice` and a tick
  /// costs `tickPrice`.
  SegmentChoice solve(int64_t segment, int64_t bytePrice, int64_t tickPrice) const;
  void refine(int64_t segment, const SegmentChoice &fast, const SegmentChoice &small,
              std::vector<SegmentChoice> &answers) const;

  const RematProblem &problem;
  const RematUses &uses;
  const std::vector<int64_t> &cuts;
  /// `bytes` is indexed by value and `ticks` by op. Both are in the units of SegmentChoice.
  std::vector<int64_t> bytes, ticks;
  int64_t allBytes = 1, allTicks = 1;
  /// By value: whether it is never rematerialized, because it crosses a cut or because the caller
  /// says so.
  std::vector<bool> stays;
};

} // namespace dpc

#endif // DPC_PASSES_REMAT_REMATCHOICES_H

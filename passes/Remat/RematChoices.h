#ifndef DPC_PASSES_REMAT_REMATCHOICES_H
#define DPC_PASSES_REMAT_REMATCHOICES_H

#include "passes/Remat/RematUses.h"

namespace dpc {

/// One answer for a segment: what is repeated there, what it keeps and how long it takes.
struct SegmentChoice {
  std::vector<int64_t> repeated;
  /// In units of the problem; see SegmentChoices.
  int64_t bytes = 0, ticks = 0;
};

/// The answers for the segments of a problem that are best at some price of time: of each
/// segment from the one that takes no time to the one that keeps the least.
class SegmentChoices {
public:
  /// `stays`: of each value, whether it is never made again.
  SegmentChoices(const RematProblem &problem, const RematUses &uses,
                 const std::vector<int64_t> &cuts, const std::vector<bool> &stays);

  /// Ascending in `ticks`, descending in `bytes`, each step dearer a byte than the one before.
  std::vector<SegmentChoice> of(int64_t segment) const;
  /// The first and the last of them.
  SegmentChoice fastest(int64_t segment) const;
  SegmentChoice smallest(int64_t segment) const;

private:
  class Cut;

  /// The answer that costs the least where a unit of bytes and one of time have these prices.
  SegmentChoice solve(int64_t segment, int64_t bytePrice, int64_t tickPrice) const;
  void refine(int64_t segment, const SegmentChoice &fast, const SegmentChoice &small,
              std::vector<SegmentChoice> &answers) const;

  const RematProblem &problem;
  const RematUses &uses;
  const std::vector<int64_t> &cuts;
  /// By value, and by op.
  std::vector<int64_t> bytes, ticks;
  int64_t allBytes = 1, allTicks = 1;
  /// By value: whether it crosses a cut or stays for another reason.
  std::vector<bool> stays;
};

} // namespace dpc

#endif // DPC_PASSES_REMAT_REMATCHOICES_H

// Decides how early buckets of sharded state are gathered.
//
// If each bucket were gathered as early as the link allows, all parameters of the model would
// be in memory from the start of a step. A window limits the gathered buckets to the bucket
// that is in use and the few buckets that are read next.

#ifndef DPC_PASSES_OVERLAP_GATHERWINDOW_H
#define DPC_PASSES_OVERLAP_GATHERWINDOW_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace dpc {

/// The size of a bucket, and the first and the last task that read it, as indices in a fixed order
/// of tasks.
struct GatheredBucket {
  int64_t bytes = 0;
  int64_t firstReader = 0, lastReader = 0;
};

struct GatherProblem {
  std::vector<GatheredBucket> buckets;
  /// The number of gathered buckets that may be in memory before their first reader runs.
  int64_t ahead = 2;

  /// Checks that the first reader of each bucket is not after the last one, that no size is
  /// negative, and that `ahead` is at least 1.
  llvm::Error check() const;
};

struct GatherWindow {
  /// By bucket: the task that must end before the gather begins; -1: none.
  std::vector<int64_t> after;
  /// The most gathered bytes in memory at once if each gather begins as early as `after` allows.
  int64_t peakBytes = 0;

  /// Checks that each gather may begin before the first reader of its bucket. Checks that at any
  /// time at most `ahead` gathered buckets wait for their first reader, unless the same task is
  /// the first reader of all of them. Checks that the recorded peak is correct.
  llvm::Error verify(const GatherProblem &problem) const;
};

/// Sorts the buckets by first reader. The gather of bucket i may begin once the first reader of
/// bucket i - `ahead` has run. If this task is also the first reader of bucket i, the closest
/// earlier bucket with another first reader counts instead. Fails only if `problem.check()` fails.
llvm::Expected<GatherWindow> planGathers(const GatherProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_OVERLAP_GATHERWINDOW_H

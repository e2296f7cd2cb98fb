// How early buckets of state that ranks hold cut are gathered.
//
// Gathered as early as the link allows, all of a model's parameters would be there from the
// start. A window bounds what is: the bucket that is computed with, and a few that are read
// next.

#ifndef DPC_PASSES_OVERLAP_GATHERWINDOW_H
#define DPC_PASSES_OVERLAP_GATHERWINDOW_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace dpc {

/// A bucket, and which tasks compute with it, of those that run in a given order.
struct GatheredBucket {
  int64_t bytes = 0;
  int64_t firstReader = 0, lastReader = 0;
};

struct GatherProblem {
  std::vector<GatheredBucket> buckets;
  /// How many buckets that nobody has read yet may be there.
  int64_t ahead = 2;

  /// Is the problem sound: a first reader no later than the last one, sizes not negative, at
  /// least one bucket ahead.
  llvm::Error check() const;
};

struct GatherWindow {
  /// By bucket: the task that ends before its gather begins; -1: none.
  std::vector<int64_t> after;
  /// The most bytes that are there at once if each gather begins as early as it may.
  int64_t peakBytes = 0;

  /// Is the answer sound for `problem`: each gather may begin before its first reader; of
  /// the buckets that are there and unread, those beyond `ahead` are read by the same task
  /// as the first of them; the recorded peak true.
  llvm::Error verify(const GatherProblem &problem) const;
};

/// Each gather begins when the first reader of the bucket `ahead` before it, in the order of
/// first readers, has run. Fails only where `problem.check()` does.
llvm::Expected<GatherWindow> planGathers(const GatherProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_OVERLAP_GATHERWINDOW_H

// Decides when gathers of sharded state may start, so that few gathered buckets are in memory
// at a time.

#include "passes/Overlap/GatherWindow.h"

#include "planning/PlanError.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;
using namespace dpc;

Error GatherProblem::check() const {
  if (ahead < 1)
    return planError("{0} buckets may be gathered ahead", ahead);
  for (auto [index, bucket] : enumerate(buckets)) {
    if (bucket.firstReader < 0 || bucket.lastReader < bucket.firstReader)
      return planError("bucket {0} is read by tasks {1} to {2}", index, bucket.firstReader,
                       bucket.lastReader);
    if (bucket.bytes < 0)
      return planError("bucket {0} has {1} bytes", index, bucket.bytes);
  }
  return Error::success();
}

/// Returns the largest number of bytes that gathered buckets take at the same time. A bucket
/// counts from the first task at which its gather may have begun until its last reader has run.
static int64_t findPeak(const GatherProblem &problem, const std::vector<int64_t> &after) {
  std::vector<std::pair<int64_t, int64_t>> changes; // (task, bytes added or freed before it)
  for (auto [bucket, begin] : zip_equal(problem.buckets, after)) {
    changes.push_back({begin + 1, bucket.bytes});
    changes.push_back({bucket.lastReader + 1, -bucket.bytes});
  }
  sort(changes);
  int64_t bytes = 0, peak = 0;
  for (auto [task, change] : changes)
    peak = std::max(peak, bytes += change);
  return peak;
}

Error GatherWindow::verify(const GatherProblem &problem) const {
  if (after.size() != problem.buckets.size())
    return planError("{0} buckets, of which {1} are gathered", problem.buckets.size(),
                     after.size());
  for (auto [index, bucket] : enumerate(problem.buckets)) {
    const int64_t now = after[index];
    if (now < -1 || now >= bucket.firstReader)
      return planError("bucket {0} is gathered after task {1}, and read by task {2}", index, now,
                       bucket.firstReader);
    std::vector<int64_t> unread; // first readers of the buckets that no task has read yet
    for (auto [other, begin] : zip_equal(problem.buckets, after))
      if (begin <= now && other.firstReader > now)
        unread.push_back(other.firstReader);
    sort(unread);
    if (int64_t(unread.size()) > problem.ahead && unread.back() != unread.front())
      return planError("{0} buckets that nobody has read are there after task {1}, {2} may be",
                       unread.size(), now, problem.ahead);
  }
  if (const int64_t peak = findPeak(problem, after); peak != peakBytes)
    return planError("the window records {0} bytes at once, it has {1}", peakBytes, peak);
  return Error::success();
}

Expected<GatherWindow> dpc::planGathers(const GatherProblem &problem) {
  if (Error error = problem.check())
    return std::move(error);
  auto order = to_vector(seq<size_t>(0, problem.buckets.size()));
  stable_sort(order, [&](size_t a, size_t b) {
    return problem.buckets[a].firstReader < problem.buckets[b].firstReader;
  });
  GatherWindow window;
  window.after.assign(problem.buckets.size(), -1);
  for (size_t i = problem.ahead; i < order.size(); ++i) {
    // All buckets that a task reads must be in memory before the task. A bucket with the same
    // first reader therefore cannot delay this gather.
    const int64_t reader = problem.buckets[order[i]].firstReader;
    for (size_t j = i - problem.ahead + 1; j-- > 0;)
      if (const int64_t earlier = problem.buckets[order[j]].firstReader; earlier < reader) {
        window.after[order[i]] = earlier;
        break;
      }
  }
  window.peakBytes = findPeak(problem, window.after);
  return window;
}

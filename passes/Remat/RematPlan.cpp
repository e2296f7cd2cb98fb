// Chooses the segments of a forward pass that are computed again, and checks the choice.

#include "passes/Remat/RematPlan.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <optional>

using namespace llvm;
using namespace dpc;

Error RematProblem::check() const {
  for (auto [index, value] : enumerate(values)) {
    if (value.maker < 0 || value.lastReader >= ops)
      return planError("value {0} lives from op {1} to op {2} of {3}", index, value.maker,
                       value.lastReader, ops);
    if (value.lastReader < value.maker)
      return planError("value {0} is made by op {1} and read by op {2}", index, value.maker,
                       value.lastReader);
    if (value.bytes < 0)
      return planError("value {0} has {1} bytes", index, value.bytes);
  }
  if (!seconds.empty() && int64_t(seconds.size()) != ops)
    return planError("there are {0} ops and times of {1}", ops, seconds.size());
  for (auto [op, time] : enumerate(seconds))
    if (!(time >= 0))
      return planError("op {0} takes {1} seconds", op, time);
  return Error::success();
}

int64_t RematPlan::segmentOf(int64_t op) const {
  return std::upper_bound(cuts.begin(), cuts.end(), op) - cuts.begin();
}

bool RematPlan::keeps(const RematValue &value) const {
  return segmentOf(value.maker) != segmentOf(value.lastReader);
}

namespace {

/// What a plan keeps under its cuts, and what of each segment the backward pass reads.
struct Bytes {
  int64_t kept = 0;
  std::vector<int64_t> segments;

  Bytes(const RematProblem &problem, const RematPlan &plan) : segments(plan.cuts.size() + 1) {
    for (const RematValue &value : problem.values) {
      if (plan.keeps(value))
        kept += value.bytes;
      else if (value.isReadBackward)
        segments[plan.segmentOf(value.maker)] += value.bytes;
    }
  }

  int64_t largest() const { return *std::max_element(segments.begin(), segments.end()); }

  /// With these segments repeated.
  int64_t total(const std::vector<bool> &repeated) const {
    int64_t bytes = kept, again = 0;
    for (auto [segment, own] : enumerate(segments)) {
      if (repeated[segment])
        again = std::max(again, own);
      else
        bytes += own;
    }
    return bytes + again;
  }
};

} // namespace

int64_t RematPlan::bytesOf(const RematProblem &problem) const {
  return Bytes(problem, *this).total(repeated);
}

/// Bytes that the backward pass reads of the forward pass.
static int64_t countRead(const RematProblem &problem) {
  int64_t bytes = 0;
  for (const RematValue &value : problem.values)
    bytes += value.isReadBackward ? value.bytes : 0;
  return bytes;
}

/// Whether a plan repeats enough, or all it can.
static bool repeatsEnough(const RematProblem &problem, const RematPlan &plan) {
  const int64_t segments = plan.cuts.size() + 1;
  return std::count(plan.repeated.begin(), plan.repeated.end(), true) == segments - 1 ||
         countRead(problem) - plan.bytesOf(problem) >= problem.savedBytes;
}

Error RematPlan::verify(const RematProblem &problem) const {
  for (auto [index, cut] : enumerate(cuts)) {
    if (cut < 1 || cut >= problem.ops)
      return planError("cut {0} is at op {1} of {2}", index, cut, problem.ops);
    if (index && cut <= cuts[index - 1])
      return planError("cut {0} is at op {1}, the one before at {2}", index, cut, cuts[index - 1]);
  }
  const Bytes bytes(problem, *this);
  if (bytes.kept != keptBytes || bytes.largest() != segmentBytes)
    return planError("the plan says {0} bytes kept and {1} a segment, the values {2} and {3}",
                     keptBytes, segmentBytes, bytes.kept, bytes.largest());
  if (repeated.size() != cuts.size() + 1 || repeated.back())
    return planError("{0} segments, of which {1} are said to be repeated or not, the last one too",
                     cuts.size() + 1, repeated.size());
  if (!repeatsEnough(problem, *this))
    return planError("{0} bytes are saved where {1} are wanted and more can be repeated",
                     countRead(problem) - bytesOf(problem), problem.savedBytes);
  return Error::success();
}

namespace {

/// Finds the cuts that keep the fewest bytes for a given size of segments, by dynamic
/// programming over places of few bytes.
class SegmentSearch {
public:
  explicit SegmentSearch(const RematProblem &problem) : problem(problem) {
    chooseCandidates();
    measure();
  }

  RematPlan run() {
    RematPlan best = makePlan({});
    const int64_t all = best.segmentBytes;
    for (double limit = all; limit >= 1; limit *= kStep) {
      std::optional<RematPlan> plan = search(limit);
      if (!plan)
        break;
      if (plan->keptBytes + plan->segmentBytes < best.keptBytes + best.segmentBytes)
        best = *plan;
    }
    return best;
  }

private:
  /// Limits of segments are tried in steps of this ratio.
  static constexpr double kStep = 0.8;
  /// At most so many places for cuts: the search is quadratic in them.
  static constexpr size_t kMostCandidates = 400;

  /// Places where fewer bytes cross than before, and no more than behind.
  void chooseCandidates() {
    std::vector<int64_t> crossing(problem.ops + 1);
    for (const RematValue &value : problem.values)
      if (value.lastReader > value.maker) {
        crossing[value.maker + 1] += value.bytes;
        crossing[value.lastReader + 1] -= value.bytes;
      }
    for (int64_t op = 1; op <= problem.ops; ++op)
      crossing[op] += crossing[op - 1];
    for (int64_t op = 1; op < problem.ops; ++op)
      if (crossing[op] < crossing[op - 1] &&
          (op + 1 == problem.ops || crossing[op] <= crossing[op + 1]))
        places.push_back(op);
    if (places.size() > kMostCandidates) {
      std::stable_sort(places.begin(), places.end(),
                       [&](int64_t a, int64_t b) { return crossing[a] < crossing[b]; });
      places.resize(kMostCandidates);
      std::sort(places.begin(), places.end());
    }
    places.insert(places.begin(), 0);
    places.push_back(problem.ops);
  }

  /// For a segment from place i to place j: what newly crosses j, and what it makes again.
  void measure() {
    const size_t count = places.size();
    newlyKept.assign(count, std::vector<int64_t>(count));
    inner.assign(count, std::vector<int64_t>(count));
    for (size_t j = 1; j < count; ++j) {
      std::vector<int64_t> kept(count), made(count);
      for (const RematValue &value : problem.values) {
        if (value.maker >= places[j])
          continue;
        const size_t i =
            std::upper_bound(places.begin(), places.end(), value.maker) - places.begin() - 1;
        if (value.lastReader >= places[j])
          kept[i] += value.bytes;
        else if (value.isReadBackward)
          made[i] += value.bytes;
      }
      for (size_t i = j; i-- > 0;) {
        newlyKept[i][j] = kept[i] + (i + 1 < j ? newlyKept[i + 1][j] : 0);
        inner[i][j] = made[i] + (i + 1 < j ? inner[i + 1][j] : 0);
      }
    }
  }

  /// The cheapest cuts with segments of at most `limit` bytes; nullopt if there are none.
  std::optional<RematPlan> search(double limit) const {
    const size_t count = places.size();
    const int64_t none = std::numeric_limits<int64_t>::max();
    std::vector<int64_t> cost(count, none), segments(count);
    std::vector<size_t> from(count);
    cost[0] = 0;
    for (size_t j = 1; j < count; ++j)
      for (size_t i = j; i-- > 0;) {
        if (double(inner[i][j]) > limit)
          break;
        if (cost[i] == none)
          continue;
        const int64_t own = cost[i] + newlyKept[i][j];
        if (own < cost[j] || (own == cost[j] && segments[i] + 1 < segments[j])) {
          cost[j] = own;
          segments[j] = segments[i] + 1;
          from[j] = i;
        }
      }
    if (cost.back() == none)
      return std::nullopt;
    std::vector<int64_t> cuts;
    for (size_t place = from[count - 1]; place > 0; place = from[place])
      cuts.insert(cuts.begin(), places[place]);
    return makePlan(cuts);
  }

  RematPlan makePlan(std::vector<int64_t> cuts) const {
    RematPlan plan;
    plan.cuts = std::move(cuts);
    const Bytes bytes(problem, plan);
    plan.keptBytes = bytes.kept;
    plan.segmentBytes = bytes.largest();
    return plan;
  }

  const RematProblem &problem;
  std::vector<int64_t> places;
  std::vector<std::vector<int64_t>> newlyKept, inner;
};

} // namespace

/// Repeats segments, those first that save the most bytes a second, until enough is saved.
static void chooseRepeated(const RematProblem &problem, RematPlan &plan) {
  const size_t segments = plan.cuts.size() + 1;
  const Bytes bytes(problem, plan);
  std::vector<double> seconds(segments);
  for (int64_t op = 0; op < problem.ops; ++op)
    seconds[plan.segmentOf(op)] += problem.seconds.empty() ? 1 : problem.seconds[op];
  auto order = to_vector(seq<size_t>(0, segments - 1));
  stable_sort(order, [&](size_t a, size_t b) {
    return seconds[a] * bytes.segments[b] < seconds[b] * bytes.segments[a];
  });
  plan.repeated.assign(segments, false);
  for (size_t segment : order) {
    if (repeatsEnough(problem, plan))
      return;
    plan.repeated[segment] = true;
  }
}

Expected<RematPlan> dpc::planSegments(const RematProblem &problem) {
  if (Error error = problem.check())
    return std::move(error);
  RematPlan plan = SegmentSearch(problem).run();
  chooseRepeated(problem, plan);
  return plan;
}

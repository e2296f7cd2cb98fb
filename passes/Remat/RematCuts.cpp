// Finds cuts of the forward pass by dynamic programming. Each answer keeps the fewest bytes for a
// given limit on the size of segments. Cuts are only tried at positions where few bytes cross
// (after Chen et al., "Training deep nets with sublinear memory cost", 2016).

#include "passes/Remat/RematCuts.h"

#include "passes/Remat/RematUses.h"

#include <algorithm>
#include <optional>

using namespace dpc;

namespace {

class CutSearch {
public:
  CutSearch(const RematProblem &problem, const std::vector<bool> &stays) : ops(problem.ops.size()) {
    const RematUses uses(problem);
    for (size_t index = 0; index < problem.values.size(); ++index) {
      const RematValue &value = problem.values[index];
      if (stays[index])
        continue;
      // If the kernels that read a value compute it for themselves, the value takes memory only if
      // it crosses a cut.
      const bool isMade = value.firstBackward >= 0 && problem.ops[value.maker].seconds > 0;
      values.push_back({value.maker, uses.lastReaderOf(problem, index), value.bytes, isMade});
    }
    chooseCandidates();
    measure();
  }

  std::vector<std::vector<int64_t>> run() {
    std::vector<std::vector<int64_t>> answers = {{}};
    for (double limit = inner[0].back(); limit >= 1; limit *= kStep) {
      std::optional<std::vector<int64_t>> answer = search(limit);
      if (!answer)
        break;
      if (*answer != answers.back())
        answers.push_back(*answer);
    }
    return answers;
  }

private:
  /// Each limit on the size of a segment is this fraction of the limit tried before.
  static constexpr double kStep = 0.8;
  /// The maximum number of positions for cuts. The time of the search grows with its square.
  static constexpr size_t kMostCandidates = 400;

  struct Lifetime {
    int64_t maker, lastReader, bytes;
    /// Whether a repeated segment makes the value for the backward pass, and keeps it in memory.
    bool isMade;
  };

  /// Chooses the positions where no more bytes cross than at the position before and the position
  /// after. If there are too many, divides the list of these positions into stretches and keeps, of
  /// each stretch, the position where the fewest bytes cross.
  void chooseCandidates() {
    std::vector<int64_t> crossing(ops + 1);
    for (const Lifetime &value : values)
      if (value.lastReader > value.maker) {
        crossing[value.maker + 1] += value.bytes;
        crossing[value.lastReader + 1] -= value.bytes;
      }
    for (int64_t op = 1; op <= ops; ++op)
      crossing[op] += crossing[op - 1];
    std::vector<int64_t> all;
    for (int64_t op = 1; op < ops; ++op)
      if (crossing[op] <= crossing[op - 1] && (op + 1 == ops || crossing[op] <= crossing[op + 1]))
        all.push_back(op);
    const size_t stretches = std::min(all.size(), kMostCandidates);
    for (size_t stretch = 0; stretch < stretches; ++stretch)
      places.push_back(
          *std::min_element(all.begin() + stretch * all.size() / stretches,
                            all.begin() + (stretch + 1) * all.size() / stretches,
                            [&](int64_t a, int64_t b) { return crossing[a] < crossing[b]; }));
    places.insert(places.begin(), 0);
    places.push_back(ops);
  }

  /// Computes two numbers for each segment from position i to position j: the bytes of the
  /// segment's values that cross j, and the bytes of the values that a repetition of the segment
  /// makes.
  void measure() {
    const size_t count = places.size();
    newlyKept.assign(count, std::vector<int64_t>(count));
    inner.assign(count, std::vector<int64_t>(count));
    for (size_t j = 1; j < count; ++j) {
      std::vector<int64_t> kept(count), made(count);
      for (const Lifetime &value : values) {
        if (value.maker >= places[j])
          continue;
        const size_t i =
            std::upper_bound(places.begin(), places.end(), value.maker) - places.begin() - 1;
        if (value.lastReader >= places[j])
          kept[i] += value.bytes;
        else if (value.isMade)
          made[i] += value.bytes;
      }
      for (size_t i = j; i-- > 0;) {
        newlyKept[i][j] = kept[i] + (i + 1 < j ? newlyKept[i + 1][j] : 0);
        inner[i][j] = made[i] + (i + 1 < j ? inner[i + 1][j] : 0);
      }
    }
  }

  /// Returns the cheapest cuts under which every segment except the last has at most `limit` bytes;
  /// nullopt if there are no such cuts.
  std::optional<std::vector<int64_t>> search(double limit) const {
    const size_t count = places.size();
    const int64_t none = std::numeric_limits<int64_t>::max();
    std::vector<int64_t> cost(count, none), segments(count);
    std::vector<size_t> from(count);
    cost[0] = 0;
    for (size_t j = 1; j < count; ++j)
      for (size_t i = j; i-- > 0;) {
        const bool isLast = j + 1 == count;
        if (!isLast && double(inner[i][j]) > limit)
          break;
        if (cost[i] == none)
          continue;
        // All values of the last segment are in memory when the backward pass begins.
        const int64_t own = cost[i] + newlyKept[i][j] + (isLast ? inner[i][j] : 0);
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
    return cuts;
  }

  const int64_t ops;
  std::vector<Lifetime> values;
  std::vector<int64_t> places;
  std::vector<std::vector<int64_t>> newlyKept, inner;
};

} // namespace

std::vector<std::vector<int64_t>> dpc::findCuts(const RematProblem &problem,
                                                const std::vector<bool> &stays) {
  return CutSearch(problem, stays).run();
}

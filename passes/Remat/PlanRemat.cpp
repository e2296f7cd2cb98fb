// Buys bytes with seconds, segment by segment, until enough is saved (Sinha & Zoltners, "The
// multiple-choice knapsack problem", 1979: its greedy answer).

#include "passes/Remat/RematChoices.h"
#include "passes/Remat/RematCuts.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>

using namespace llvm;
using namespace dpc;

namespace {

/// Plans under fixed cuts.
class Planner {
public:
  /// `stays`: of each value, whether it is never made again.
  Planner(const RematProblem &problem, const std::vector<bool> &stays, std::vector<int64_t> cuts)
      : problem(problem), uses(problem), stays(stays), cuts(std::move(cuts)) {}

  /// Repeats nothing but what takes no time.
  RematPlan makePlain() const {
    const SegmentChoices choices(problem, uses, cuts, stays);
    std::vector<bool> repeated(problem.ops.size());
    for (int64_t segment = 0; segment <= int64_t(cuts.size()); ++segment)
      for (int64_t op : choices.fastest(segment).repeated)
        repeated[op] = true;
    return makePlan(std::move(repeated));
  }

  /// What is asked for is made again, of what takes no time to make.
  RematPlan makeAsked() const {
    std::vector<bool> repeated(problem.ops.size());
    for (auto [index, op] : enumerate(problem.ops))
      repeated[index] = op.mayRepeat && op.seconds == 0;
    RematPlan plain = makePlan(repeated);
    for (int64_t value : problem.asked)
      repeated[problem.values[value].maker] = problem.ops[problem.values[value].maker].mayRepeat;
    RematPlan plan = makePlan(repeated);
    plan.plainBytes = plain.peakBytes;
    return plan;
  }

  /// How many bytes it takes to repeat all segments but the last: what is kept then, and
  /// what the largest makes.
  int64_t measure() const {
    const SegmentChoices choices(problem, uses, cuts, stays);
    const int64_t last = cuts.size();
    std::vector<bool> repeated(problem.ops.size());
    std::vector<int64_t> made(last + 1);
    for (int64_t segment = 0; segment <= last; ++segment) {
      const SegmentChoice choice =
          segment < last ? choices.smallest(segment) : choices.fastest(segment);
      for (int64_t op : choice.repeated)
        repeated[op] = true;
    }
    const RematPlan plan = makePlan(repeated);
    for (auto [index, value] : enumerate(problem.values))
      if (!plan.kept[index] && plan.repeated[value.maker] && problem.ops[value.maker].seconds > 0)
        made[plan.segmentOf(value.maker)] += value.bytes;
    return plan.keptBytes + *std::max_element(made.begin(), made.end());
  }

  RematPlan run() const {
    const SegmentChoices choices(problem, uses, cuts, stays);
    const int64_t last = cuts.size();
    std::vector<std::vector<SegmentChoice>> answers;
    std::vector<Step> steps;
    for (int64_t segment = 0; segment <= last; ++segment) {
      answers.push_back(choices.of(segment));
      for (size_t answer = 1; answer < answers[segment].size(); ++answer)
        steps.push_back(stepOf(answers[segment], segment, answer));
    }
    std::vector<size_t> chosen(last + 1);
    RematPlan best = combine(answers, chosen);
    const int64_t plain = best.plainBytes = best.peakBytes;
    // What saves a byte in the least time; what is equal there from the front, as its bytes
    // are kept the longest.
    stable_sort(steps,
                [](const Step &a, const Step &b) { return a.ticks * b.bytes < b.ticks * a.bytes; });
    if (problem.savedBytes < std::numeric_limits<int64_t>::max())
      for (const Step &step : steps) {
        if (plain - best.peakBytes >= problem.savedBytes)
          break;
        chosen[step.segment] = step.answer;
        best = combine(answers, chosen);
      }
    if (plain - best.peakBytes < problem.savedBytes) {
      // The most: all segments, of the last one, with which the backward pass begins, what
      // helps.
      for (int64_t segment = 0; segment < last; ++segment)
        chosen[segment] = answers[segment].size() - 1;
      for (size_t answer = 0; answer < answers[last].size(); ++answer) {
        chosen[last] = answer;
        RematPlan plan = combine(answers, chosen);
        if (answer == 0 || plan.peakBytes < best.peakBytes)
          best = std::move(plan);
      }
    }
    best.plainBytes = plain;
    return best;
  }

private:
  /// From one answer of a segment to the next.
  struct Step {
    int64_t segment;
    size_t answer;
    int64_t ticks, bytes;
  };

  static Step stepOf(const std::vector<SegmentChoice> &answers, int64_t segment, size_t answer) {
    return {segment, answer, answers[answer].ticks - answers[answer - 1].ticks,
            answers[answer - 1].bytes - answers[answer].bytes};
  }

  RematPlan combine(const std::vector<std::vector<SegmentChoice>> &answers,
                    const std::vector<size_t> &chosen) const {
    std::vector<bool> repeated(problem.ops.size());
    for (auto [segment, answer] : enumerate(chosen))
      for (int64_t op : answers[segment][answer].repeated)
        repeated[op] = true;
    return makePlan(std::move(repeated));
  }

  /// Repeats of these ops what somebody needs, and keeps what they read.
  RematPlan makePlan(std::vector<bool> repeated) const {
    RematPlan plan;
    plan.cuts = cuts;
    plan.kept.resize(problem.values.size());
    std::vector<bool> isNeeded(problem.values.size());
    for (size_t value = 0; value < problem.values.size(); ++value)
      isNeeded[value] = problem.values[value].firstBackward >= 0;
    for (int64_t op = problem.ops.size(); op-- > 0;) {
      bool isUsed = false;
      for (int64_t result : uses.resultsOf(op)) {
        if (!isNeeded[result])
          continue;
        const bool crosses =
            plan.segmentOf(op) != plan.segmentOf(uses.lastReaderOf(problem, result));
        plan.kept[result] = crosses || stays[result] || !repeated[op];
        isUsed |= !plan.kept[result];
      }
      repeated[op] = repeated[op] && isUsed;
      if (repeated[op])
        for (int64_t read : problem.ops[op].reads)
          isNeeded[read] = true;
    }
    plan.repeated = std::move(repeated);
    const std::vector<int64_t> bytes = replayRemat(problem, plan);
    plan.keptBytes = bytes.front();
    plan.peakBytes = *std::max_element(bytes.begin(), bytes.end());
    return plan;
  }

  const RematProblem &problem;
  const RematUses uses;
  const std::vector<bool> &stays;
  const std::vector<int64_t> cuts;
};

} // namespace

/// Values that the backward pass reads before the plain program has all its bytes: made
/// again they would be there at that moment too.
static std::vector<bool> findFirstRead(const RematProblem &problem, const RematPlan &plain) {
  const std::vector<int64_t> bytes = replayRemat(problem, plain);
  const int64_t peak = bytes.rend() - std::max_element(bytes.rbegin(), bytes.rend()) - 1;
  std::vector<bool> found;
  for (const RematValue &value : problem.values)
    found.push_back(value.firstBackward >= 0 && value.firstBackward < peak &&
                    problem.ops[value.maker].seconds > 0);
  return found;
}

Expected<RematPlan> dpc::planRemat(const RematProblem &problem) {
  if (Error error = problem.check())
    return std::move(error);
  const std::vector<bool> none(problem.values.size());
  if (!problem.asked.empty())
    return Planner(problem, none, {}).makeAsked();
  const std::vector<bool> stays = findFirstRead(problem, Planner(problem, none, {}).makePlain());
  std::optional<std::pair<int64_t, std::vector<int64_t>>> best;
  for (std::vector<int64_t> &cuts : findCuts(problem, stays))
    if (const int64_t bytes = Planner(problem, stays, cuts).measure(); !best || bytes < best->first)
      best = {bytes, std::move(cuts)};
  return Planner(problem, stays, std::move(best->second)).run();
}

// Chooses the ops to repeat. Each segment has a list of answers: sets of ops to repeat, from fast
// to small (RematPlan.h). Starts with the first answer of each segment, whose ops take no time.
// Then takes steps, each of which moves one segment to its next answer, until enough bytes are
// saved. The steps with the least time per saved byte come first (the greedy method in Sinha &
// Zoltners, "The multiple-choice knapsack problem", 1979).

#include "passes/Remat/RematChoices.h"
#include "passes/Remat/RematCuts.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>

using namespace llvm;
using namespace dpc;

namespace {

/// Makes plans for given cuts of the forward pass into segments.
class Planner {
public:
  /// `stays[value]`: whether the value is never rematerialized.
  Planner(const RematProblem &problem, const std::vector<bool> &stays, std::vector<int64_t> cuts)
      : problem(problem), uses(problem), stays(stays), cuts(std::move(cuts)) {}

  /// Returns the plan that repeats only ops that take no time.
  RematPlan makePlain() const {
    const SegmentChoices choices(problem, uses, cuts, stays);
    std::vector<bool> repeated(problem.ops.size());
    for (int64_t segment = 0; segment <= int64_t(cuts.size()); ++segment)
      for (int64_t op : choices.fastest(segment).repeated)
        repeated[op] = true;
    return makePlan(std::move(repeated));
  }

  /// Returns the plan that rematerializes the values that the user asks for, and values that take
  /// no time to compute.
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

  /// Returns the bytes that are needed if all segments but the last are repeated as far as
  /// possible: the bytes of the values that are then kept, and the bytes that the repetition of
  /// the largest segment makes.
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
    // Take the steps in the order of time per saved byte. Of equal steps the one of the earliest
    // segment comes first, because the bytes of this segment are kept the longest.
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
      // The steps do not save enough, so save as much as possible. Every segment but the last
      // takes its answer with the fewest bytes. The backward pass begins with the last segment.
      // For this segment the answer with the fewest bytes need not have the lowest peak, so all
      // its answers are tried.
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
  /// A step from one answer of a segment to the next answer: the ticks (units of time) that it
  /// adds and the bytes that it saves.
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

  /// Returns a plan that repeats the ops in `repeated`, but leaves out an op if each of its
  /// results is kept or not needed. Of the values that the backward pass or repeated ops read, the
  /// plan keeps those that cross a cut, those that stay, and those whose op is not repeated.
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

/// Finds the values that take time to compute and that the backward pass first reads at or before
/// the peak of the program without rematerialization (`plain`). If they were rematerialized, they
/// would still take memory at the peak, so nothing would be saved.
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

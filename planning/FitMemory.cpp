// Searches for the cheapest plan whose program fits into the memory of a rank.

#include "planning/FitMemory.h"

#include "planning/PlanError.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;
using namespace dpc;

static constexpr int64_t kMebibyte = 1 << 20;

Error FitProblem::check() const {
  if (Error error = asked.check())
    return error;
  if (capacity < 1)
    return planError("a rank may use {0} bytes", capacity);
  if (mayRecompute && !asked.remat.isNone())
    return planError("the search chooses the values to compute again, but the plan has some");
  for (const std::string &name : axesToDivide)
    if (none_of(asked.mesh, [&](const PlanAxis &axis) { return axis.name == name; }))
      return planError("state may be divided over '{0}', which is no axis of the mesh", name);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

namespace {

class FitSearch {
public:
  FitSearch(const FitProblem &problem, NeedOf needOf) : problem(problem), needOf(needOf) {}

  Expected<FitAnswer> run() {
    const std::vector<ProgramPlan> divisions = listDivisions();
    for (const ProgramPlan &division : divisions) {
      const bool isFirst = &division == &divisions.front(), isLast = &division == &divisions.back();
      if (Error error = attempt(division, /*saved=*/0))
        return error;
      // The last plan of the list always tries recomputation. If other plans follow the first plan,
      // the first plan does not try it, because the next plan costs less time than recomputation. A
      // middle plan tries it only if its state alone fits into the capacity, because recomputation
      // saves no state.
      if (!answer.fits && problem.mayRecompute && problem.trains &&
          (isLast || (!isFirst && last.state <= problem.capacity)))
        if (Error error = recompute(division, isLast))
          return error;
      if (answer.fits)
        break;
    }
    return answer;
  }

private:
  /// Lists the plan as asked, followed by plans that divide more and more state among the ranks. If
  /// the search must keep the division of state, only a plan with smaller buckets may follow.
  /// Memory holds the contents of a bucket twice. In a small memory, a bucket must therefore be
  /// small: at most 1/32 of the capacity, but at least 1 MiB.
  std::vector<ProgramPlan> listDivisions() const {
    std::vector<ProgramPlan> found = {problem.asked};
    ProgramPlan next = problem.asked;
    const bool keepsState = problem.axesToDivide.empty();
    const int64_t bucket = std::max(problem.capacity / 32 / kMebibyte, int64_t(1)) * kMebibyte;
    if (problem.mayShrinkBuckets && bucket < next.buckets.later &&
        !(keepsState && next.zero.axes.empty())) {
      next.buckets.later = bucket;
      if (keepsState)
        found.push_back(next);
    }
    if (keepsState)
      return found;
    next.zero.axes = problem.axesToDivide;
    for (ZeroStage stage : {ZeroStage::gradients, ZeroStage::parameters}) {
      next.zero.stage = stage;
      if (problem.trains || stage == ZeroStage::parameters)
        found.push_back(next);
    }
    return found;
  }

  /// Tries plans that save the missing bytes by recomputation. The compiler only estimates how
  /// many bytes recomputation saves. The second try therefore adds the bytes that are still
  /// missing after the first one. The third try asks for all possible savings; only the last plan
  /// of the list needs it.
  Error recompute(ProgramPlan division, bool isLast) {
    for (auto [stage, peak] : enumerate(last.stagePeaks))
      if (peak > problem.capacity)
        division.remat.stages.push_back(stage);
    if (division.remat.stages.size() == last.stagePeaks.size())
      division.remat.stages.clear();
    const int64_t missing = last.peak - problem.capacity;
    if (Error error = attempt(division, missing))
      return error;
    if (answer.fits)
      return Error::success();
    const int64_t before = last.peak;
    if (Error error = attempt(division, missing + before - problem.capacity))
      return error;
    // If the second try asked for more and its peak is the same, nothing more can be saved.
    if (answer.fits || !isLast || last.peak == before)
      return Error::success();
    return attempt(division, RematChoice::all);
  }

  Error attempt(ProgramPlan plan, int64_t saved) {
    if (problem.mayRecompute)
      plan.remat.savedBytes = saved;
    Expected<MemoryNeed> need = needOf(plan);
    if (!need)
      return need.takeError();
    last = *need;
    if (answer.trials++ == 0)
      answer.asAsked = last;
    answer.fits = last.peak <= problem.capacity;
    if (answer.fits || answer.trials == 1 || last.peak < answer.need.peak) {
      answer.plan = std::move(plan);
      answer.need = last;
    }
    return Error::success();
  }

  const FitProblem &problem;
  NeedOf needOf;
  FitAnswer answer;
  MemoryNeed last;
};

} // namespace

Expected<FitAnswer> dpc::fitMemory(const FitProblem &problem, NeedOf needOf) {
  return FitSearch(problem, needOf).run();
}

//===----------------------------------------------------------------------===//
// Answer
//===----------------------------------------------------------------------===//

/// The stages that compute values again, as part of a sentence; empty if all do.
static std::string stagesText(ArrayRef<int64_t> stages) {
  std::string text;
  for (int64_t stage : stages)
    text += (text.empty() ? "" : ", ") + std::to_string(stage);
  return text.empty() ? "" : (stages.size() == 1 ? " of stage " : " of the stages ") + text;
}

std::string FitAnswer::describeChanges(const ProgramPlan &asked) const {
  std::string text;
  if (plan.zero.stage != asked.zero.stage)
    text = "--zero=" + std::to_string(static_cast<int64_t>(plan.zero.stage));
  if (plan.buckets.later != asked.buckets.later)
    text += (text.empty() ? "" : " ") + std::string("--bucket-mib=") +
            std::to_string(plan.buckets.later / kMebibyte);
  if (plan.remat.savedBytes != asked.remat.savedBytes)
    text += (text.empty() ? "" : " and ") +
            std::string(plan.remat.savedBytes == RematChoice::all
                            ? "all of the forward pass that saves memory"
                            : "parts of the forward pass") +
            stagesText(plan.remat.stages) + " computed again";
  return text;
}

Error FitAnswer::verify(const FitProblem &problem) const {
  if (Error error = plan.check())
    return error;
  if (fits && need.peak > problem.capacity)
    return planError("needs {0} bytes of {1} and is said to fit", need.peak, problem.capacity);
  if (!fits && std::min(need.peak, asAsked.peak) <= problem.capacity)
    return planError("needs {0} bytes of {1} and is said not to fit",
                     std::min(need.peak, asAsked.peak), problem.capacity);
  // Undo the changes that the problem allows. The rest must equal the plan as asked.
  ProgramPlan rest = plan;
  if (problem.mayRecompute)
    rest.remat = problem.asked.remat;
  if (!problem.axesToDivide.empty()) {
    rest.zero.stage = problem.asked.zero.stage;
    rest.zero.axes = problem.asked.zero.axes;
  }
  if (problem.mayShrinkBuckets && plan.buckets.later < problem.asked.buckets.later)
    rest.buckets.later = problem.asked.buckets.later;
  if (!(rest == problem.asked))
    return planError("changes more than it may: {0}, not {1}", toString(rest),
                     toString(problem.asked));
  return Error::success();
}

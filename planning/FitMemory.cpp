// Searches for the cheapest plan whose program fits into the memory of a rank.

#include "planning/FitMemory.h"

#include "planning/PlanError.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

using namespace llvm;
using namespace dpc;

static constexpr int64_t kMebibyte = 1 << 20;
/// A plan with a step that takes at most this many times as long is not worth another trial.
static constexpr double kHardlyLonger = 1.02;

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
      if (!answer.fits && (isLast || (!isFirst && last.state <= problem.capacity)))
        if (Error error = shrink(division, isLast))
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

  /// Tries plans that need less memory than `division`, whose need is `last`, and divide state in
  /// the same way.
  Error shrink(const ProgramPlan &division, bool isLast) {
    const MemoryNeed plain = last;
    if (problem.mayRecompute && problem.trains)
      if (Error error = recompute(division, plain, isLast))
        return error;
    if (plain.stagePeaks.size() < 2 || isFastEnough(plain))
      return Error::success();
    if (Error error = reschedule(division, plain))
      return error;
    if (isFastEnough(plain))
      return Error::success();
    if (Error error = cutAgain(division, plain))
      return error;
    if (answer.fits || !isLast)
      return Error::success();
    // Change several things at once.
    ProgramPlan all = division;
    const bool recomputes = problem.mayRecompute && problem.trains;
    if (recomputes) {
      all.remat.savedBytes = RematChoice::all;
      if (Error error = shrinkFurther(all))
        return error;
    }
    if (answer.fits || lastCutBytes == 0)
      return Error::success();
    all.cutBytes = lastCutBytes;
    return shrinkFurther(all);
  }

  /// Tries `plan`, and then the same with fewer microbatches in flight.
  Error shrinkFurther(const ProgramPlan &plan) {
    if (Error error = attempt(plan, plan.remat.savedBytes))
      return error;
    return answer.fits ? Error::success() : reschedule(plan, last);
  }

  /// Whether the best plan so far fits, and its step takes hardly longer than with `plain`, the
  /// need of a plan that is too large.
  bool isFastEnough(const MemoryNeed &plain) const {
    return answer.fits && double(answer.need.stepNs) <= kHardlyLonger * double(plain.stepNs);
  }

  /// Tries plans that save the missing bytes by recomputation. The compiler only estimates how
  /// many bytes recomputation saves. The second try therefore adds the bytes that are still
  /// missing after the first one. The third try asks for all possible savings; only the last plan
  /// of the list needs it.
  Error recompute(ProgramPlan division, const MemoryNeed &plain, bool isLast) {
    for (auto [stage, peak] : enumerate(plain.stagePeaks))
      if (peak > problem.capacity)
        division.remat.stages.push_back(stage);
    if (division.remat.stages.size() == plain.stagePeaks.size())
      division.remat.stages.clear();
    const int64_t missing = plain.peak - problem.capacity;
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

  /// Tries plans in which the microbatches of the stages that do not fit hold fewer bytes. `plain`
  /// is the need of `plan`. The memory plan of a stage does not shrink exactly by the bytes that
  /// its microbatches hold less, so a second try may follow.
  Error reschedule(ProgramPlan plan, const MemoryNeed &plain) {
    if (!problem.asked.scheduleBytes.empty() || int64_t(plain.heldBytes.size()) != plan.stages())
      return Error::success();
    plan.scheduleBytes.assign(plan.stages(), 0);
    MemoryNeed before = plain;
    for (int tries = 0; tries < 2; ++tries) {
      bool changes = false;
      for (size_t stage = 0; stage < before.stagePeaks.size(); ++stage) {
        const int64_t missing = before.stagePeaks[stage] - problem.capacity;
        const int64_t next =
            std::max(before.heldBytes[stage] - missing, plain.leastHeldBytes[stage]);
        if (missing <= 0 || next >= before.heldBytes[stage])
          continue;
        plan.scheduleBytes[stage] = next;
        changes = true;
      }
      if (!changes)
        break;
      const bool fitted = answer.fits;
      if (Error error = attempt(plan, plan.remat.savedBytes))
        return error;
      if (last.peak <= problem.capacity || fitted)
        break;
      before = last;
    }
    return Error::success();
  }

  /// Tries plans whose cut puts fewer bytes on the stage that needs the most. `plain` is the need
  /// of `plan`.
  Error cutAgain(ProgramPlan plan, const MemoryNeed &plain) {
    if (!plan.cutNodes.empty() || problem.asked.cutBytes > 0 ||
        plain.cutBytes.size() != plain.stagePeaks.size())
      return Error::success();
    MemoryNeed before = plain;
    int64_t bytes = std::numeric_limits<int64_t>::max();
    for (int tries = 0; tries < 2; ++tries) {
      // The memory plan needs more than the estimate, e.g. for intermediate values.
      const int64_t asked = bytes;
      for (auto [peak, estimate] : zip_equal(before.stagePeaks, before.cutBytes))
        if (peak > problem.capacity)
          bytes = std::min(bytes, std::max(estimate - (peak - problem.capacity), int64_t(1)));
      if (bytes == asked)
        break;
      plan.cutBytes = lastCutBytes = bytes;
      if (Error error = attempt(plan, plan.remat.savedBytes))
        return error;
      if (last.peak <= problem.capacity || last.cutBytes == before.cutBytes)
        break;
      before = last;
    }
    return Error::success();
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
    // Of the plans that fit, the answer is the one with the shortest step, and the first of them.
    // Of the others, it is the smallest.
    const bool fits = last.peak <= problem.capacity;
    const bool isBetter =
        answer.trials == 1 || (fits ? !answer.fits || last.stepNs < answer.need.stepNs
                                    : !answer.fits && last.peak < answer.need.peak);
    answer.fits |= fits;
    if (isBetter) {
      answer.plan = std::move(plan);
      answer.need = last;
    }
    return Error::success();
  }

  const FitProblem &problem;
  NeedOf needOf;
  FitAnswer answer;
  MemoryNeed last;
  /// ProgramPlan::cutBytes of the last plan with another cut; 0 if there was none.
  int64_t lastCutBytes = 0;
};

} // namespace

Expected<FitAnswer> dpc::fitMemory(const FitProblem &problem, NeedOf needOf) {
  return FitSearch(problem, needOf).run();
}

//===----------------------------------------------------------------------===//
// Answer
//===----------------------------------------------------------------------===//

/// Some stages as part of a sentence; empty for all stages.
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
  if (plan.cutBytes != asked.cutBytes)
    text += (text.empty() ? "" : " and ") + std::string("other stages (--cut-memory=") +
            std::to_string(plan.cutBytes) + ")";
  if (plan.scheduleBytes != asked.scheduleBytes) {
    std::vector<int64_t> stages;
    for (auto [stage, bytes] : enumerate(plan.scheduleBytes))
      if (bytes > 0)
        stages.push_back(stage);
    if (stages.size() == plan.scheduleBytes.size())
      stages.clear();
    text += (text.empty() ? "" : " and ") + std::string("fewer microbatches") + stagesText(stages) +
            " in flight";
  }
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
  if (problem.asked.scheduleBytes.empty())
    rest.scheduleBytes.clear();
  if (problem.asked.cutBytes == 0)
    rest.cutBytes = 0;
  if (!(rest == problem.asked))
    return planError("changes more than it may: {0}, not {1}", toString(rest),
                     toString(problem.asked));
  return Error::success();
}

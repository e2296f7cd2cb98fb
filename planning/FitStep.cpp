// Searches for the plan with the shortest step: a walk over sizes of buckets, then the divisions.

#include "planning/FitStep.h"

#include "planning/PlanError.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dpc;

/// A plan that saves less than this share of a step is not worth a change. It also is the precision
/// of an estimate: the finished program may need copies that the estimate does not know.
static constexpr double kWorthAChange = 0.01;
/// One step of the walk over sizes of buckets, and the most steps in one direction.
static constexpr int64_t kBucketStep = 4;
static constexpr int kMostSteps = 2;

Error StepProblem::check() const {
  if (Error error = asked.check())
    return error;
  if (!axesToDivide.empty() && asked.zero.stage != ZeroStage::automatic)
    return planError("the search chooses the updates to divide, but the plan asks for --zero={0}",
                     int64_t(asked.zero.stage));
  return Error::success();
}

namespace {

class StepSearch {
public:
  StepSearch(const StepProblem &problem, StepOf stepOf) : problem(problem), stepOf(stepOf) {}

  Expected<StepAnswer> run() {
    answer.plan = problem.asked;
    Expected<StepEstimate> asked = estimate(problem.asked);
    if (!asked)
      return asked.takeError();
    answer.estimate = answer.ofAsked = *asked;
    if (asked->seconds - asked->computeSeconds <= kWorthAChange * asked->seconds)
      return answer;
    if (problem.mayChooseBuckets) {
      Expected<bool> isBetter = walk(/*grows=*/true);
      if (isBetter && !*isBetter)
        isBetter = walk(/*grows=*/false);
      if (!isBetter)
        return isBetter.takeError();
    }
    if (!problem.axesToDivide.empty())
      for (ZeroStage stage : {ZeroStage::none, ZeroStage::optimizer}) {
        ProgramPlan next = answer.plan;
        next.zero.stage = stage;
        next.zero.axes = problem.axesToDivide;
        // Another division changes what a rank holds, so it must be worth that by itself.
        if (Error error = attempt(next, kWorthAChange).takeError())
          return std::move(error);
      }
    if (answer.estimate.seconds > (1 - kWorthAChange) * answer.ofAsked.seconds) {
      answer.plan = problem.asked;
      answer.estimate = answer.ofAsked;
    }
    return answer;
  }

private:
  Expected<StepEstimate> estimate(const ProgramPlan &plan) {
    ++answer.trials;
    return stepOf(plan);
  }

  /// Keeps `plan` if its step is shorter than the shortest one so far, by the share `least` of it.
  /// Returns whether it is.
  Expected<bool> attempt(const ProgramPlan &plan, double least = 0) {
    Expected<StepEstimate> own = estimate(plan);
    if (!own)
      return own.takeError();
    if (own->seconds >= (1 - least) * answer.estimate.seconds)
      return false;
    answer.plan = plan;
    answer.estimate = *own;
    return true;
  }

  /// Tries larger or smaller buckets as long as the step becomes shorter. Returns whether it did.
  Expected<bool> walk(bool grows) {
    bool isBetter = false;
    ProgramPlan next = problem.asked;
    // A bucket that is larger than all sums together is as large as they are.
    if (!grows && problem.summedBytes < next.buckets.first)
      next.buckets.first = PowerOf2Ceil(problem.summedBytes);
    for (int step = 0; step < kMostSteps; ++step) {
      if (grows && next.buckets.first >= problem.summedBytes)
        break; // one bucket holds everything
      for (int64_t *bytes : {&next.buckets.first, &next.buckets.later})
        *bytes = grows ? *bytes * kBucketStep : std::max(*bytes / kBucketStep, int64_t(1));
      Expected<bool> isShorter = attempt(next);
      if (!isShorter)
        return isShorter.takeError();
      if (!*isShorter)
        break;
      isBetter = true;
    }
    return isBetter;
  }

  const StepProblem &problem;
  StepOf stepOf;
  StepAnswer answer;
};

} // namespace

Expected<StepAnswer> dpc::fitStep(const StepProblem &problem, StepOf stepOf) {
  if (Error error = problem.check())
    return std::move(error);
  return StepSearch(problem, stepOf).run();
}

std::string StepAnswer::describeChanges(const ProgramPlan &asked) const {
  std::string text;
  if (plan.zero.stage != asked.zero.stage)
    text = "--zero=" + std::to_string(int64_t(plan.zero.stage));
  raw_string_ostream stream(text);
  auto add = [&](StringRef option, int64_t own, int64_t other) {
    if (own != other) // a number of bytes is exact in 15 digits
      stream << (text.empty() ? "" : " ") << option << format("=%.15g", double(own) / (1 << 20));
  };
  add("--first-bucket-mib", plan.buckets.first, asked.buckets.first);
  add("--bucket-mib", plan.buckets.later, asked.buckets.later);
  return text;
}

Error StepAnswer::verify(const StepProblem &problem) const {
  if (Error error = plan.check())
    return error;
  if (!(plan == problem.asked) && !(estimate.seconds < ofAsked.seconds))
    return planError("a step takes {0} s instead of {1} s", estimate.seconds, ofAsked.seconds);
  // Undo the changes that the problem allows. The rest must equal the plan as asked.
  ProgramPlan rest = plan;
  if (problem.mayChooseBuckets)
    rest.buckets = problem.asked.buckets;
  if (!problem.axesToDivide.empty())
    rest.zero = problem.asked.zero;
  if (!(rest == problem.asked))
    return planError("changes more than it may: {0}, not {1}", toString(rest),
                     toString(problem.asked));
  return Error::success();
}

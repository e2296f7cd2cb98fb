// The search for the plan with the shortest step: the plans that it tries, and its answers.

#include "planning/FitStep.h"
#include "planning/PlanError.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace dpc;

namespace {

constexpr int64_t kMebibyte = 1 << 20;

StepProblem problemOf() {
  StepProblem problem;
  problem.asked.mesh = {{"data", 2, true}};
  problem.summedBytes = 1000 * kMebibyte;
  problem.mayChooseBuckets = true;
  problem.axesToDivide = {"data"};
  return problem;
}

/// A step of 1 s of computation, and of communication that takes longer the further the later
/// buckets are from `best` bytes.
struct Model {
  int64_t best = 25 * kMebibyte;
  double perFactor = 0.1, ofDivision = 0, ofNone = 0;
  std::vector<std::string> tried;

  StepEstimate stepOf(const ProgramPlan &plan) {
    tried.push_back(toString(plan));
    const double away = std::abs(std::log2(double(plan.buckets.later) / double(best)));
    double seconds = 1.1 + perFactor * away;
    if (plan.zero.stage == ZeroStage::optimizer)
      seconds += ofDivision;
    if (plan.zero.stage == ZeroStage::none)
      seconds += ofNone;
    return {seconds, 1};
  }

  StepAnswer run(const StepProblem &problem) {
    StepAnswer answer = llvm::cantFail(
        fitStep(problem, [&](const ProgramPlan &plan) -> llvm::Expected<StepEstimate> {
          return stepOf(plan);
        }));
    llvm::cantFail(answer.verify(problem));
    EXPECT_EQ(answer.trials, tried.size());
    return answer;
  }
};

std::string messageOf(llvm::Error error) { return llvm::toString(std::move(error)); }

} // namespace

TEST(FitStep, GrowsBucketsAsLongAsItHelps) {
  Model model{/*best=*/100 * kMebibyte};
  const StepProblem problem = problemOf();
  const StepAnswer answer = model.run(problem);
  EXPECT_EQ(answer.plan.buckets.later, 100 * kMebibyte);
  EXPECT_EQ(answer.plan.buckets.first, 4 * kMebibyte);
  EXPECT_EQ(answer.describeChanges(problem.asked), "--first-bucket-mib=4 --bucket-mib=100");
  // As asked, 4 and 16 times as large, and two divisions.
  EXPECT_EQ(answer.trials, 5u);
}

TEST(FitStep, ShrinksBuckets) {
  Model model{/*best=*/kMebibyte};
  const StepProblem problem = problemOf();
  const StepAnswer answer = model.run(problem);
  EXPECT_EQ(answer.describeChanges(problem.asked), "--first-bucket-mib=0.0625 --bucket-mib=1.5625");
}

TEST(FitStep, KeepsThePlanForLessThanAHundredth) {
  Model model{/*best=*/100 * kMebibyte, /*perFactor=*/0.004};
  const StepProblem problem = problemOf();
  const StepAnswer answer = model.run(problem);
  EXPECT_TRUE(answer.plan == problem.asked);
  EXPECT_EQ(answer.describeChanges(problem.asked), "");
  EXPECT_EQ(answer.estimate.seconds, answer.ofAsked.seconds);
}

TEST(FitStep, TriesNothingWithoutCommunication) {
  StepProblem problem = problemOf();
  unsigned trials = 0;
  StepAnswer answer =
      llvm::cantFail(fitStep(problem, [&](const ProgramPlan &) -> llvm::Expected<StepEstimate> {
        ++trials;
        return StepEstimate{1.005, 1};
      }));
  EXPECT_EQ(trials, 1u);
  EXPECT_TRUE(answer.plan == problem.asked);
}

TEST(FitStep, TriesNoLargerBucketThanOneThatHoldsAll) {
  Model model{/*best=*/100 * kMebibyte};
  StepProblem problem = problemOf();
  problem.summedBytes = kMebibyte;
  model.run(problem);
  for (const std::string &plan : model.tried)
    EXPECT_EQ(plan.find("104857600"), std::string::npos) << plan;
}

TEST(FitStep, ShrinksBucketsThatHoldAllFromTheBytesThatTheyHold) {
  Model model{/*best=*/kMebibyte};
  StepProblem problem = problemOf();
  problem.summedBytes = 4000;
  EXPECT_EQ(model.run(problem).plan.buckets.first, 256);
}

TEST(FitStep, DividesOptimizerStateIfThatIsFaster) {
  Model model;
  model.ofDivision = -0.05;
  model.ofNone = 0.3;
  const StepProblem problem = problemOf();
  const StepAnswer answer = model.run(problem);
  EXPECT_EQ(answer.plan.zero.stage, ZeroStage::optimizer);
  EXPECT_EQ(answer.plan.zero.axes, problem.axesToDivide);
  EXPECT_EQ(answer.describeChanges(problem.asked), "--zero=1");
}

TEST(FitStep, KeepsTheDivisionForLessThanAHundredth) {
  Model model{/*best=*/100 * kMebibyte};
  model.ofNone = -0.005;
  const StepProblem problem = problemOf();
  EXPECT_EQ(model.run(problem).describeChanges(problem.asked),
            "--first-bucket-mib=4 --bucket-mib=100");
}

TEST(FitStep, KeepsClosedChoices) {
  Model model{/*best=*/100 * kMebibyte};
  model.ofNone = -0.5;
  StepProblem problem = problemOf();
  problem.mayChooseBuckets = false;
  StepAnswer answer = model.run(problem);
  EXPECT_EQ(answer.describeChanges(problem.asked), "--zero=0");
  problem = problemOf();
  problem.axesToDivide.clear();
  model.tried.clear();
  answer = model.run(problem);
  EXPECT_EQ(answer.plan.zero.stage, ZeroStage::automatic);
}

TEST(FitStep, RefusesWrongProblemsAndAnswers) {
  StepProblem problem = problemOf();
  problem.asked.zero.stage = ZeroStage::none;
  EXPECT_EQ(messageOf(problem.check()),
            "the search chooses the updates to divide, but the plan asks for --zero=0");
  problem = problemOf();
  Model model{/*best=*/100 * kMebibyte};
  StepAnswer answer = model.run(problem);
  answer.ofAsked.seconds = answer.estimate.seconds;
  EXPECT_NE(messageOf(answer.verify(problem)), "");
  answer = StepAnswer();
  answer.plan = problem.asked;
  answer.plan.overlap = false;
  answer.ofAsked.seconds = 1;
  EXPECT_NE(messageOf(answer.verify(problem)).find("changes more than it may"), std::string::npos);
}

TEST(FitStep, FailsWithTheEstimate) {
  const StepProblem problem = problemOf();
  EXPECT_EQ(messageOf(fitStep(problem,
                              [](const ProgramPlan &) -> llvm::Expected<StepEstimate> {
                                return planError("no estimate");
                              })
                          .takeError()),
            "no estimate");
}

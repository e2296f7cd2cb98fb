// Searches for the plan with the shortest step.
//
// The search itself works only on plans. For each plan that it tries, it asks the caller how long a
// step takes.

#ifndef DPC_PLANNING_FITSTEP_H
#define DPC_PLANNING_FITSTEP_H

#include "planning/Plan.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dpc {

/// A plan, and the choices that the search may change.
struct StepProblem {
  /// The plan that the search starts from.
  ProgramPlan asked;
  /// Bytes that the collectives of a step sum. A bucket of this size or more holds all of them.
  int64_t summedBytes = 0;
  /// Whether the search may choose the sizes of buckets.
  bool mayChooseBuckets = false;
  /// The mesh axes over which the search may divide optimizer state; empty if the search must keep
  /// the division of state in `asked`. If there are any, `asked` divides as ZeroStage::automatic
  /// does. The search also tries `none` and `optimizer`.
  std::vector<std::string> axesToDivide;

  /// Checks that `asked` passes its own check, and that it agrees with `axesToDivide`.
  llvm::Error check() const;
};

/// How long a step takes.
struct StepEstimate {
  double seconds = 0;
  /// The time in which the rank that ends last computes. No choice of the search makes the step
  /// much shorter than this.
  double computeSeconds = 0;
};

struct StepAnswer {
  ProgramPlan plan;
  StepEstimate estimate, ofAsked;
  /// The number of plans that the search tried.
  unsigned trials = 0;

  /// Describes how `plan` differs from `asked`, with options of dpc-compile, e.g. "--bucket-mib=4";
  /// empty if the plans are equal.
  std::string describeChanges(const ProgramPlan &asked) const;

  /// Checks that `plan` differs from `asked` only in choices that the problem allows to change, and
  /// only if its step is shorter.
  llvm::Error verify(const StepProblem &problem) const;
};

/// Returns the time of a step that follows `plan`.
using StepOf = llvm::function_ref<llvm::Expected<StepEstimate>(const ProgramPlan &plan)>;

/// Finds the sizes of buckets, and then the updates to divide, with which a step is shortest. Tries
/// buckets that are 4 and 16 times as large or as small as asked, as long as the step becomes
/// shorter. Keeps the plan as asked unless another one saves more than a hundredth of the step, and
/// tries no plans if not even that much of the step is communication. Fails if `stepOf` fails.
llvm::Expected<StepAnswer> fitStep(const StepProblem &problem, StepOf stepOf);

} // namespace dpc

#endif // DPC_PLANNING_FITSTEP_H

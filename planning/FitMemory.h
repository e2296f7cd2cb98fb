// Searches for a plan whose program fits into the memory of a device.
//
// The search itself works only on plans. For each plan that it tries, it asks the caller how many
// bytes a rank needs.

#ifndef DPC_PLANNING_FITMEMORY_H
#define DPC_PLANNING_FITMEMORY_H

#include "planning/Plan.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dpc {

/// A plan, the memory that a rank may use, and the choices that the search may change.
struct FitProblem {
  /// The plan that the search starts from. The search changes only the choices of this plan that
  /// the fields below allow it to change.
  ProgramPlan asked;
  /// Bytes that a rank may use.
  int64_t capacity = 0;
  /// Whether the program has a backward pass and an optimizer.
  bool trains = true;
  /// Whether the search may let the backward pass compute values of the forward pass again. If
  /// so, `asked` must not do so itself.
  bool mayRecompute = false;
  /// The mesh axes over which the search may divide state; empty if the search must keep the
  /// division of state in `asked`.
  std::vector<std::string> axesToDivide;
  /// Whether the search may make the buckets of collectives smaller.
  bool mayShrinkBuckets = false;

  /// Checks that `asked` passes its own check, that the capacity is positive, that `asked` has no
  /// recomputation if `mayRecompute` is set, and that the axes are axes of the mesh.
  llvm::Error check() const;
};

/// The bytes of memory that the program of one rank needs.
struct MemoryNeed {
  int64_t peak = 0;
  /// The part of `peak` that is in use as long as the program runs: parameters, buffers,
  /// optimizer state, inputs, labels, outputs and metrics.
  int64_t state = 0;
  /// By stage of a pipeline: the peak of its ranks; empty without a pipeline. `peak` and `state`
  /// are those of the stage that needs the most.
  std::vector<int64_t> stagePeaks;
  /// By stage: the part of its peak that its microbatches hold between pieces, and the least that
  /// they hold with any schedule; empty if the program has no pieces.
  std::vector<int64_t> heldBytes, leastHeldBytes;
  /// By stage: the bytes that the search for the cut has estimated.
  std::vector<int64_t> cutBytes;
  /// The modelled time of a step of the pipeline; 0 if it is not known.
  int64_t stepNs = 0;
};

struct FitAnswer {
  /// Whether the search found a plan that fits. If not, `plan` is the plan that needs the fewest
  /// bytes among the plans that the search tried.
  bool fits = false;
  ProgramPlan plan;
  MemoryNeed need;
  /// The memory that the plan FitProblem::asked needs.
  MemoryNeed asAsked;
  /// The number of plans that the search tried.
  unsigned trials = 0;

  /// Describes how `plan` differs from `asked`, with options of dpc-compile, e.g. "--zero=2 and
  /// parts of the forward pass computed again"; empty if the plans are equal.
  std::string describeChanges(const ProgramPlan &asked) const;

  /// Checks that the answer is sound: `fits` agrees with the capacity, and `plan` differs from
  /// `asked` only in choices that the problem allows to change.
  llvm::Error verify(const FitProblem &problem) const;
};

/// Returns the bytes that a rank needs if the program follows `plan`.
using NeedOf = llvm::function_ref<llvm::Expected<MemoryNeed>(const ProgramPlan &plan)>;

/// Finds the cheapest plan that fits. If no plan fits, finds the plan that needs the fewest
/// bytes. Tries the following plans in this order, and leaves out those that the problem does not
/// allow:
/// - the plan as asked;
/// - state and gradients divided among ranks, and smaller buckets. Without microbatches, this plan
///   sends no more bytes than the plan as asked;
/// - the same, with values of the forward pass computed again until this saves the missing bytes.
///   In a pipeline, only the stages that do not fit compute values again;
/// - in a pipeline, fewer microbatches in flight in the stages that do not fit, and stages cut so
///   that they need less memory. If several of these plans fit, the one with the shortest step is
///   the cheapest;
/// - parameters divided too, first without and then with these changes;
/// - parameters divided too, and all values computed again whose recomputation saves memory;
/// - in a pipeline, all of these changes together.
///
/// Fails if `needOf` fails.
llvm::Expected<FitAnswer> fitMemory(const FitProblem &problem, NeedOf needOf);

} // namespace dpc

#endif // DPC_PLANNING_FITMEMORY_H

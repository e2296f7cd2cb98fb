// The search for a plan whose program fits into the memory of a device.
//
// The search knows plans and their bytes only; the caller says how many bytes a plan needs.

#ifndef DPC_PLANNING_FITMEMORY_H
#define DPC_PLANNING_FITMEMORY_H

#include "planning/Plan.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dpc {

/// A plan, the memory that a rank may use, and the choices that the search may change.
struct FitProblem {
  /// The plan to begin with. The search keeps its other choices.
  ProgramPlan asked;
  /// Bytes that a rank may use.
  int64_t capacity = 0;
  /// Whether the program has a backward pass and an optimizer.
  bool trains = true;
  /// Whether values of the forward pass may be computed again. The plan then names none itself.
  bool mayRecompute = false;
  /// The mesh axes over which state may be divided; empty if it stays as `asked` has it.
  std::vector<std::string> axesToDivide;
  /// Whether buckets may become smaller.
  bool mayShrinkBuckets = false;

  /// Is the problem sound?
  llvm::Error check() const;
};

/// Bytes of a rank's program.
struct MemoryNeed {
  int64_t peak = 0;
  /// The part of `peak` that lives as long as the program: parameters, other state, data.
  int64_t state = 0;
};

struct FitAnswer {
  /// Whether a plan fits. If not, `plan` is the one that needs least.
  bool fits = false;
  ProgramPlan plan;
  MemoryNeed need;
  /// The need of FitProblem::asked.
  MemoryNeed asAsked;
  /// The number of plans whose need was asked for.
  unsigned trials = 0;

  /// The changes from `asked` in words, with options of dpc-compile; empty if there are none.
  std::string describeChanges(const ProgramPlan &asked) const;

  /// Is the answer sound: within the capacity if it fits, and with no change that the problem
  /// does not allow?
  llvm::Error verify(const FitProblem &problem) const;
};

/// Returns the bytes that a rank needs if the program follows `plan`.
using NeedOf = llvm::function_ref<llvm::Expected<MemoryNeed>(const ProgramPlan &plan)>;

/// Finds the cheapest plan that fits, and the plan that needs least if none does. Tries, in this
/// order: the plan as asked; state and gradients divided and buckets smaller, which sends no more
/// bytes; values of the forward pass computed again, by as many bytes as are missing; parameters
/// divided too; all values computed again that save memory. Fails if `needOf` fails.
llvm::Expected<FitAnswer> fitMemory(const FitProblem &problem, NeedOf needOf);

} // namespace dpc

#endif // DPC_PLANNING_FITMEMORY_H

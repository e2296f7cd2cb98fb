// Plans which ops share a kernel, and checks that a plan is sound.

#include "passes/Fusion/KernelPlan.h"

#include "passes/Fusion/KernelGroups.h"
#include "passes/Fusion/Recomputation.h"
#include "planning/PlanError.h"

#include "dialects/NN/IR/NNDialect.h"
#include "targets/Target.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace dpc;
using llvm::Error;

Error KernelProblem::check() const {
  if (maxOps < 1)
    return planError("a kernel may have {0} ops at most", maxOps);
  if (recomputedOps < 0)
    return planError("{0} ops may be computed again", recomputedOps);
  return Error::success();
}

namespace {

/// The position of each op in a plan: the number of its kernel, and its index in the kernel. Both
/// begin with 0.
class Places {
public:
  Error add(const KernelPlan &plan) {
    for (auto [number, ops] : llvm::enumerate(plan.kernels)) {
      if (ops.empty())
        return planError("kernel {0} has no ops", number);
      for (auto [index, op] : llvm::enumerate(ops)) {
        auto [entry, isNew] = places.insert({op, {number, index}});
        if (!isNew)
          return planError("{0} is in kernel {1} and in kernel {2}", op->getName(),
                           entry->second.first, number);
      }
    }
    return Error::success();
  }

  bool contains(Operation *op) const { return places.contains(op); }

  /// Whether `value` is available when `op` runs. If a `repeated` op (FusionKind), e.g. a
  /// broadcast, is in no kernel, each kernel that reads its result computes it again. The result is
  /// therefore available if the operands of the `repeated` op are.
  bool isReady(Value value, Operation *op) const {
    Operation *maker = value.getDefiningOp();
    if (!maker || maker->getBlock() != op->getBlock())
      return true;
    auto place = places.find(maker);
    if (place == places.end())
      return llvm::all_of(maker->getOperands(),
                          [&](Value operand) { return isReady(operand, op); });
    return place->second < places.at(op);
  }

private:
  DenseMap<Operation *, std::pair<size_t, size_t>> places;
};

} // namespace

/// Checks that one kernel can hold all of `ops`.
static Error verifyMembers(const KernelProblem &problem, size_t number, const KernelOps &ops) {
  int64_t tiled = 0;
  for (Operation *op : ops) {
    FusionKind kind = getFusionKind(op);
    if (ops.size() > 1 && (kind == FusionKind::view || kind == FusionKind::outside))
      return planError("kernel {0} joins {1}, which is no part of a kernel, with "
                       "{2} other ops",
                       number, op->getName(), ops.size() - 1);
    tiled += problem.target.getForm(op) == OpForm::tiles;
  }
  if (tiled > 1)
    return planError("kernel {0} has {1} ops that make their results in tiles", number, tiled);
  return Error::success();
}

Error KernelPlan::verify(const KernelProblem &problem) const {
  Places places;
  if (Error error = places.add(*this))
    return error;
  for (Operation &op : problem.block.without_terminator())
    if (!places.contains(&op) && getFusionKind(&op) != FusionKind::repeated)
      return planError("{0} is in no kernel", op.getName());
  Operation *lastEffect = nullptr;
  for (auto [number, ops] : llvm::enumerate(kernels)) {
    if (Error error = verifyMembers(problem, number, ops))
      return error;
    for (Operation *op : ops) {
      if (!isMemoryEffectFree(op)) {
        if (lastEffect && op->isBeforeInBlock(lastEffect))
          return planError("kernel {0} runs {1} after {2}, which comes later in the program",
                           number, op->getName(), lastEffect->getName());
        lastEffect = op;
      }
      bool ready = true;
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (operand.getParentBlock() == &problem.block)
            ready &= places.isReady(operand, op);
      });
      if (!ready)
        return planError("kernel {0} runs {1} before what it reads", number, op->getName());
    }
  }
  return Error::success();
}

llvm::Expected<KernelPlan> dpc::planKernels(const KernelProblem &problem) {
  if (Error error = problem.check())
    return std::move(error);
  KernelPlan plan;
  KernelGroups groups(problem.block, problem.target, problem.code, problem.maxOps);
  for (const KernelGroups::Unit *unit : groups.inOrder())
    plan.kernels.push_back(unit->ops);
  recomputeShortChains(plan.kernels, problem.code.recompute ? problem.recomputedOps : 0);
  return plan;
}

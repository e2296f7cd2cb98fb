// Computes the order in which the ops of a backward pass run, and from this order the bytes
// that the pass keeps.

#include "passes/Remat/BackwardMoments.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/NN/IR/Conversions.h"
#include "dialects/NN/IR/Fusion.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace dpc;

/// Whether an update reads `value`, directly or through conversions.
static bool feedsUpdate(Value value) {
  return llvm::any_of(nn::getForms(value),
                      [](Value form) { return llvm::any_of(form.getUsers(), updatesState); });
}

int64_t GradientDivision::partsOf(Operation *op) const {
  dist::CollectiveOpInterface sum = dist::asSumOverRanks(op);
  if (!divides || !sum || !feedsUpdate(sum->getResult(0)))
    return 1;
  const SmallVector<StringRef> summed = dist::axesOf(sum);
  if (axes.axes.empty())
    return dist::membersOf(sum);
  const bool isDivided = llvm::all_of(
      axes.axes, [&](const dist::MeshAxis &axis) { return llvm::is_contained(summed, axis.name); });
  return isDivided ? axes.worldSize() : 1;
}

BackwardMoments::BackwardMoments(Block &block, std::vector<Operation *> ops)
    : block(block), backward(std::move(ops)) {
  // By op: its own index, or the index of the op directly after which it runs.
  llvm::DenseMap<Operation *, int64_t> numberOf;
  for (auto [index, op] : llvm::enumerate(backward)) {
    int64_t number = -1;
    const bool isEarly = updatesState(op) ||
                         runsAtOnce(op, [&](Operation *maker) { return numberOf.contains(maker); });
    if (isEarly)
      for (Value operand : op->getOperands())
        if (auto maker = numberOf.find(operand.getDefiningOp()); maker != numberOf.end())
          number = std::max(number, maker->second);
    // Learning rates and similar numbers do not depend on a gradient. They run at the start.
    if (number < 0)
      number = isEarly && llvm::none_of(op->getResultTypes(), hasRank) ? 0 : index;
    numberOf[op] = number;
  }
  std::vector<Operation *> inTime = backward;
  llvm::stable_sort(
      inTime, [&](Operation *a, Operation *b) { return numberOf.lookup(a) < numberOf.lookup(b); });
  for (auto [moment, op] : llvm::enumerate(inTime))
    momentOf[op] = moment;
}

std::vector<int64_t> BackwardMoments::countBytes(const GradientDivision &division) const {
  std::vector<int64_t> changes(backward.size() + 1), bytes;
  // By op: the number of ranks among which its results are divided.
  llvm::DenseMap<Operation *, int64_t> parts;
  for (Operation *op : backward) {
    int64_t part = division.partsOf(op);
    if (isFree(op) || updatesState(op) || getFusionKind(op) == FusionKind::elementwise)
      for (Value operand : op->getOperands())
        part = std::max(part, parts.lookup(operand.getDefiningOp()));
    parts[op] = part;
    if (isFree(op))
      continue;
    for (Value result : op->getResults()) {
      if (!passesThroughMemory(result) || (updatesState(op) && lastUseOf(result) < 0))
        continue;
      const int64_t taken = tensorBytes(result.getType()) / part;
      changes[of(op)] += taken;
      changes[std::max(of(op), lastUseOf(result)) + 1] -= taken;
    }
  }
  int64_t live = 0;
  for (size_t moment = 0; moment < backward.size(); ++moment)
    bytes.push_back(live += changes[moment]);
  return bytes;
}

int64_t BackwardMoments::lastUseOf(Value value) const {
  int64_t last = -1;
  for (Operation *user : value.getUsers()) {
    Operation *op = block.findAncestorOpInBlock(*user);
    if (!op)
      continue;
    if (isFree(op)) {
      for (Value result : op->getResults())
        last = std::max(last, lastUseOf(result));
    } else if (auto moment = momentOf.find(op); moment != momentOf.end()) {
      last = std::max(last, moment->second);
    } else if (updatesState(op)) {
      for (Value operand : op->getOperands())
        if (auto maker = momentOf.find(operand.getDefiningOp()); maker != momentOf.end())
          last = std::max(last, maker->second);
    }
  }
  return last;
}

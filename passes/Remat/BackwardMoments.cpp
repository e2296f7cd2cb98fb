// When the ops of a backward pass run, for what they keep.

#include "passes/Remat/BackwardMoments.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Program.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace dpc;

bool dpc::isFree(Operation *op) {
  const FusionKind kind = getFusionKind(op);
  return kind == FusionKind::view || kind == FusionKind::repeated;
}

/// Whether `op` runs as soon as what it reads is there, wherever it stands.
static bool runsAtOnce(Operation *op) {
  const FusionKind kind = getFusionKind(op);
  return isFree(op) || kind == FusionKind::elementwise || kind == FusionKind::reduction ||
         dist::isCollective(op);
}

/// Whether `op` sums over all axes of `division`.
static bool isSumOver(Operation *op, const dist::MeshShape &division) {
  if (!isa<dist::AllReduceOp>(op) || division.axes.empty())
    return false;
  const SmallVector<StringRef> axes = dist::axesOf(op);
  return llvm::all_of(division.axes, [&](const dist::MeshAxis &axis) {
    return llvm::is_contained(axes, axis.name);
  });
}

/// Whether `value` comes from before the backward pass, whose ops are in `numberOf`, and takes
/// memory. Who reads such a value runs where it stands: earlier it would only be earlier
/// there again if it is computed again.
static bool isFromForward(Value value, const llvm::DenseMap<Operation *, int64_t> &numberOf) {
  Operation *maker = value.getDefiningOp();
  return maker && !numberOf.contains(maker) && getFusionKind(maker) != FusionKind::repeated &&
         cast<RankedTensorType>(value.getType()).getRank() > 0;
}

BackwardMoments::BackwardMoments(Block &block, std::vector<Operation *> ops)
    : block(block), backward(std::move(ops)) {
  // Of the op behind which each runs.
  llvm::DenseMap<Operation *, int64_t> numberOf;
  for (auto [index, op] : llvm::enumerate(backward)) {
    int64_t number = -1;
    const bool isEarly = runsAtOnce(op) && llvm::none_of(op->getOperands(), [&](Value operand) {
                           return isFromForward(operand, numberOf);
                         });
    if (isEarly)
      for (Value operand : op->getOperands())
        if (auto maker = numberOf.find(operand.getDefiningOp()); maker != numberOf.end())
          number = std::max(number, maker->second);
    // Learning rates and the like depend on nothing of it.
    const bool isNumber = llvm::all_of(op->getResultTypes(), [](Type type) {
      return cast<RankedTensorType>(type).getRank() == 0;
    });
    if (number < 0)
      number = isNumber && isEarly ? 0 : index;
    numberOf[op] = number;
  }
  std::vector<Operation *> inTime = backward;
  llvm::stable_sort(
      inTime, [&](Operation *a, Operation *b) { return numberOf.lookup(a) < numberOf.lookup(b); });
  for (auto [moment, op] : llvm::enumerate(inTime))
    momentOf[op] = moment;
}

std::vector<int64_t> BackwardMoments::countBytes(const dist::MeshShape &division) const {
  std::vector<int64_t> changes(backward.size() + 1), bytes;
  // By how many ranks what an op makes is divided.
  llvm::DenseMap<Operation *, int64_t> parts;
  for (Operation *op : backward) {
    int64_t &part = parts[op] = 1;
    if (isSumOver(op, division))
      part = division.worldSize();
    else if (isFree(op) || getFusionKind(op) == FusionKind::elementwise)
      for (Value operand : op->getOperands())
        part = std::max(part, parts.lookup(operand.getDefiningOp()));
    if (isFree(op))
      continue;
    for (Value result : op->getResults()) {
      if (!passesThroughMemory(result))
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
    } else if (isa<nn::UpdateOp>(op)) {
      for (Value operand : op->getOperands())
        if (auto maker = momentOf.find(operand.getDefiningOp()); maker != momentOf.end())
          last = std::max(last, maker->second);
    }
  }
  return last;
}

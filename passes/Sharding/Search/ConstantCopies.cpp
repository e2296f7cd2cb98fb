// Gives each reader of a constant its own copy before layouts are chosen, and merges equal
// copies afterwards.

#include "passes/Sharding/Search/ConstantCopies.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;

/// A constant is copied only if at most this many ops compute it, because a copy of the
/// constant may need copies of all these ops.
static const unsigned kMostOps = 16;

/// Returns the pure ops that depend on no argument, in program order, without ops that need more
/// than `kMostOps` ops. Every device can run these ops by itself. Maps each op to the number of ops
/// that a copy of it needs if copies share no op: the op itself and all ops that compute its
/// operands.
static llvm::MapVector<Operation *, unsigned> findConstants(func::FuncOp function) {
  llvm::MapVector<Operation *, unsigned> constants;
  for (Operation &op : function.front().without_terminator()) {
    if (op.getNumRegions() > 0 || !isPure(&op))
      continue;
    unsigned ops = 1;
    for (Value operand : op.getOperands()) {
      auto known = constants.find(operand.getDefiningOp());
      ops = known == constants.end() ? kMostOps + 1 : std::min(ops + known->second, kMostOps + 1);
    }
    if (ops <= kMostOps)
      constants.insert({&op, ops});
  }
  return constants;
}

void dpc::copyConstants(func::FuncOp function) {
  // Begins with the last op, because each copy of a reader adds a reader to the operands of
  // that reader.
  const auto constants = findConstants(function);
  for (const auto &[op, ops] : llvm::reverse(constants)) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op->getUses())
      uses.push_back(&use);
    llvm::sort(uses, [](OpOperand *a, OpOperand *b) {
      return a->getOwner() == b->getOwner() ? a->getOperandNumber() < b->getOperandNumber()
                                            : a->getOwner()->isBeforeInBlock(b->getOwner());
    });
    for (OpOperand *use : llvm::drop_begin(uses, uses.empty() ? 0 : 1)) {
      Operation *copy = op->clone();
      op->getBlock()->getOperations().insertAfter(op->getIterator(), copy);
      use->set(copy->getResult(cast<OpResult>(use->get()).getResultNumber()));
    }
  }
}

void dpc::mergeConstants(func::FuncOp function,
                         llvm::function_ref<std::vector<bool>(Value)> kindOf) {
  const auto flags = OperationEquivalence::IgnoreLocations;
  std::map<std::pair<size_t, std::vector<bool>>, SmallVector<Operation *>> kept;
  for (const auto &[op, ops] : findConstants(function)) {
    const size_t hash = OperationEquivalence::computeHash(
        op, OperationEquivalence::directHashValue, OperationEquivalence::ignoreHashValue, flags);
    std::vector<bool> kind;
    for (Value result : op->getResults())
      llvm::append_range(kind, kindOf(result));
    SmallVector<Operation *> &alike = kept[{hash, kind}];
    auto same = llvm::find_if(alike, [&, op = op](Operation *other) {
      return OperationEquivalence::isEquivalentTo(op, other, flags);
    });
    if (same == alike.end()) {
      alike.push_back(op);
      continue;
    }
    op->replaceAllUsesWith(*same);
    op->erase();
  }
}

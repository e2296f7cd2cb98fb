// Copies a short elementwise chain into each kernel that reads the result of the chain and also
// reads the inputs of the chain from memory.

#include "passes/Fusion/Recomputation.h"

#include "dialects/Interfaces/Interfaces.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dpc;

namespace {
/// One kernel, and the values that it reads but does not compute.
class Reader {
public:
  Reader(KernelOps &ops) : ops(ops), members(ops.begin(), ops.end()) {
    for (Operation *op : ops)
      for (Value operand : op->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        if (maker && (members.contains(maker) || getFusionKind(maker) == FusionKind::repeated))
          continue;
        if (reads.insert(operand) && maker && maker->getBlock() == op->getBlock() &&
            getFusionKind(maker) == FusionKind::elementwise)
          values.push_back(operand);
      }
    // Values that are computed earlier are handled earlier, because the chain of a later value may
    // start from the copy of an earlier value.
    llvm::sort(values, [](Value a, Value b) {
      return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
    });
  }

  void run(unsigned maxOps) {
    for (Value value : values) {
      llvm::SetVector<Operation *> chain;
      if (isUsedElementwise(value) && collect(value, chain, maxOps))
        replace(value, chain);
    }
  }

private:
  /// Whether all users of `value` are elementwise ops or reductions. Then no user needs the value
  /// in memory.
  bool isUsedElementwise(Value value) const {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      FusionKind kind = getFusionKind(user);
      return kind == FusionKind::elementwise || kind == FusionKind::reduction;
    });
  }

  /// Collects in `chain` the ops that compute `value` from values that the kernel reads. An op
  /// comes after the ops that compute its operands. collect() calls itself for operands. `open` is
  /// the number of outer calls: their ops are not in `chain` yet, but will be. Returns false if
  /// `value` has no chain of at most `maxOps` ops.
  bool collect(Value value, llvm::SetVector<Operation *> &chain, unsigned maxOps,
               unsigned open = 0) const {
    Operation *op = value.getDefiningOp();
    if (chain.size() + open >= maxOps || getFusionKind(op) != FusionKind::elementwise)
      return false;
    for (Value operand : op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (reads.contains(operand) || copies.contains(operand) ||
          (maker && (chain.contains(maker) || getFusionKind(maker) == FusionKind::repeated)))
        continue;
      if (!maker || maker->getBlock() != op->getBlock() ||
          !collect(operand, chain, maxOps, open + 1))
        return false;
    }
    chain.insert(op);
    return true;
  }

  void replace(Value value, const llvm::SetVector<Operation *> &chain) {
    OpBuilder builder(ops.front());
    SmallVector<Operation *> made;
    for (Operation *op : chain) {
      if (copies.contains(op->getResult(0)))
        continue;
      Operation *copy = builder.clone(*op, copies);
      made.push_back(copy);
      members.insert(copy);
    }
    ops.insert(ops.begin() + added, made.begin(), made.end());
    added += made.size();
    reads.remove(value);
    value.replaceUsesWithIf(copies.lookup(value),
                            [&](OpOperand &use) { return members.contains(use.getOwner()); });
  }

  KernelOps &ops;
  DenseSet<Operation *> members;
  llvm::SetVector<Value> reads;
  SmallVector<Value> values;
  IRMapping copies;
  unsigned added = 0;
};
} // namespace

void dpc::recomputeShortChains(std::vector<KernelOps> &kernels, unsigned maxOps) {
  for (KernelOps &ops : kernels) {
    FusionKind kind = getFusionKind(ops.front());
    if (kind != FusionKind::view && kind != FusionKind::outside)
      Reader(ops).run(maxOps);
  }
}

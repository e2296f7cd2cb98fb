// Lets products of narrow factors return their sums in the wider type that their readers need.

#include "passes/Normalize/Passes.h"

#include "dialects/NN/IR/Expressions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_WIDENSUMS
#include "passes/Normalize/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

/// If `value` is a float, returns the number of bits of an element. Otherwise returns 0.
static unsigned floatBits(Value value) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
  return type ? type.getWidth() : 0;
}

static bool isWidening(ConvertOp op) {
  unsigned from = floatBits(op.getInput());
  return from != 0 && from < floatBits(op.getResult());
}
static bool isNarrowing(Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  return convert && floatBits(convert.getResult()) != 0 &&
         floatBits(convert.getResult()) < floatBits(convert.getInput());
}

/// If `op` widens a sum that has been rounded only for this, returns the sum before rounding.
/// Returns null for other ops.
static Value getRoundedSum(Operation &op) {
  auto widening = dyn_cast<ConvertOp>(&op);
  auto rounding = widening ? widening.getInput().getDefiningOp<ConvertOp>() : nullptr;
  if (!rounding || !rounding->hasOneUse() || rounding.getInput().getType() != widening.getType() ||
      !isNarrowing(rounding) ||
      !isa_and_nonnull<AddOp, ReduceOp>(rounding.getInput().getDefiningOp()))
    return nullptr;
  return rounding.getInput();
}

/// Returns the values on which a conversion to a narrower float type depends, directly or
/// indirectly. Removes the rounding of sums if nothing that depends on the sum is narrowed.
static llvm::DenseSet<Value> findNarrowedLater(Block &block) {
  llvm::DenseSet<Value> found;
  llvm::DenseSet<Operation *> unused;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (unused.contains(&op)) {
      op.erase();
    } else if (isNarrowing(&op) || llvm::any_of(op.getResults(), [&](Value result) {
                 return found.contains(result);
               })) {
      found.insert(op.operand_begin(), op.operand_end());
    } else if (Value sum = getRoundedSum(op)) {
      unused.insert(op.getOperand(0).getDefiningOp());
      op.getResult(0).replaceAllUsesWith(sum);
      op.erase();
    }
  }
  return found;
}

namespace {
struct WidenSumsPass : dpc::impl::WidenSumsBase<WidenSumsPass> {
  void runOnOperation() override {
    Block &block = getOperation().front();
    llvm::DenseSet<Value> narrowedLater = findNarrowedLater(block);
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto convert = dyn_cast<ConvertOp>(&op);
      if (convert && isWidening(convert) && !narrowedLater.contains(convert.getResult()))
        widen(convert);
    }
  }

private:
  /// Removes `convert`, and lets the product whose result it converts return the wider type. Does
  /// nothing if `convert` converts no such result, or if the result has other uses. Between the
  /// product and `convert`, there may be ops with one operand that only move the result. They get
  /// the wider type too.
  void widen(ConvertOp convert) {
    SmallVector<Value> moved;
    Value value = convert.getInput();
    while (true) {
      auto op = value.getDefiningOp<PrecisionOpInterface>();
      if (!op || !value.hasOneUse())
        return;
      moved.push_back(value);
      if (op.getPrecision() == Precision::narrow) {
        if (!op.sumsToWider())
          return;
        break;
      }
      if (op->getNumOperands() != 1)
        return;
      value = op->getOperand(0);
    }
    Type wide = getElementTypeOrSelf(convert.getType());
    for (Value each : moved)
      each.setType(typeOf(each).clone(wide));
    convert.replaceAllUsesWith(convert.getInput());
    convert.erase();
  }
};
} // namespace

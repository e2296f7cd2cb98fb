// Lets chains of convolutions compute with channels last.

#include "passes/Lowering/ChannelPlan.h"
#include "passes/Lowering/KernelNeeds.h"
#include "passes/Lowering/Passes.h"

#include "dialects/NN/IR/Expressions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_SETCHANNELSLAST
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

namespace {

/// Rewrites the ops of a plan.
class ChannelMover {
public:
  explicit ChannelMover(const ChannelPlan &plan) : plan(plan) {}

  void run() {
    for (Operation *op : plan.getOps())
      move(op);
    for (Operation *op : llvm::reverse(plan.getOps()))
      remove(op);
  }

private:
  /// Builds `op` with channels last.
  void move(Operation *op) {
    const ChannelDims &dims = plan.dimsOf(op);
    SmallVector<Value> operands;
    for (auto [operand, channels] : llvm::zip_equal(op->getOpOperands(), dims.operands)) {
      auto known = moved.find(operand.get());
      if (channels)
        operands.push_back(inOrder(operand.get(), *channels, op));
      else
        operands.push_back(ChannelPlan::needsNoOrder(operand) && known != moved.end()
                               ? known->second
                               : operand.get());
    }
    OpBuilder builder(op);
    const SmallVector<Value> results = moveChannels(op, builder, dims, operands);
    for (auto [result, channels, made] : llvm::zip_equal(op->getResults(), dims.results, results)) {
      if (channels)
        moved[result] = made;
      else
        result.replaceAllUsesWith(made);
    }
  }

  /// Removes `op`, after all ops with channels last that read its results. Other ops get the
  /// results in the order that they had.
  void remove(Operation *op) {
    for (auto [result, channels] : llvm::zip_equal(op->getResults(), plan.dimsOf(op).results)) {
      for (OpOperand &use : llvm::make_early_inc_range(result.getUses()))
        if (ChannelPlan::needsNoOrder(use))
          use.set(moved.lookup(result));
      if (result.use_empty())
        continue;
      Value last = moved.lookup(result);
      OpBuilder builder(op);
      builder.setInsertionPointAfterValue(last);
      result.replaceAllUsesWith(Expressions{builder, op->getLoc()}.transpose(
          last, orderWithoutLast(*channels, typeOf(last).getRank())));
    }
    op->erase();
  }

  /// `value` with the dimension `channels` last, before `reader`, which reads it. All readers share
  /// it. They must come in program order.
  Value inOrder(Value value, int64_t channels, Operation *reader) {
    auto known = moved.find(value);
    if (known != moved.end())
      return known->second;
    // It must be visible to all readers of the value, so it is in the block of the value.
    OpBuilder builder(value.getParentBlock()->findAncestorOpInBlock(*reader));
    Expressions e{builder, value.getLoc()};
    const int64_t rank = typeOf(value).getRank();
    Value made;
    if (Operation *maker = value.getDefiningOp()) {
      const auto dims =
          findChannels(maker, std::nullopt, cast<OpResult>(value).getResultNumber(), channels);
      // Make constants and repeated values in the order. One kernel transposes and rounds.
      if (dims && llvm::none_of(dims->operands, [](auto c) { return c.has_value(); }))
        made = moveChannels(maker, builder, *dims, maker->getOperands())[0];
      else if (isa<ConvertOp>(maker))
        made = e.convert(e.transpose(maker->getOperand(0), orderWithLast(channels, rank)),
                         typeOf(value).getElementType());
    }
    if (!made)
      made = e.transpose(value, orderWithLast(channels, rank));
    return moved[value] = made;
  }

  const ChannelPlan &plan;
  llvm::DenseMap<Value, Value> moved;
};

struct SetChannelsLastPass : dpc::impl::SetChannelsLastBase<SetChannelsLastPass> {
  using SetChannelsLastBase::SetChannelsLastBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *target = getTarget(module);
    if (!target)
      return signalPassFailure();
    const CodeOptions options = codeOptionsOf(module, recompute, orderedSums, factors, products);
    const ChannelPlan plan(module, *target, options);
    if (llvm::Error error = plan.verify()) {
      module.emitError("chooses channels last wrongly: ") << llvm::toString(std::move(error));
      return signalPassFailure();
    }
    if (plan.getOps().empty())
      return;
    ChannelMover(plan).run();
    joinTranspositions(module);
  }

private:
  /// Joins transpositions of transposed values, and removes those that change nothing.
  static void joinTranspositions(ModuleOp module) {
    SmallVector<TransposeOp> transpositions;
    module.walk([&](TransposeOp op) { transpositions.push_back(op); });
    for (TransposeOp op : transpositions) {
      SmallVector<OpFoldResult> results;
      while (succeeded(op->fold(results)) && results.empty())
        continue;
      if (!results.empty())
        if (auto value = dyn_cast<Value>(results[0]); value && value != op.getResult())
          op.getResult().replaceAllUsesWith(value);
    }
    for (TransposeOp op : llvm::reverse(transpositions))
      if (op->use_empty())
        op.erase();
  }
};

} // namespace

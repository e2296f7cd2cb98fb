// Chooses the ops that compute with channels last: a minimum cut between the ops that do and those
// that do not. Each edge costs the bytes of a transposition.

#include "passes/Lowering/ChannelPlan.h"

#include "dialects/NN/IR/Convolution.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Shape.h"
#include "planning/MinimumCut.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Channels = std::optional<int64_t>;

/// Whether `op` is a convolution or the gradient of one.
static bool isConvolution(Operation *op) {
  return isa<ConvOp, ConvInputGradOp, ConvWeightGradOp>(op);
}

/// Whether the value of `op` is made again for each reader, so that it costs nothing to make it in
/// another order: it is a constant, or a small tensor that is repeated.
static bool isRemade(Operation *op, const ChannelDims &dims) {
  return getFusionKind(op) == FusionKind::repeated &&
         llvm::all_of(dims.operands, [](Channels channels) { return !channels; });
}

ChannelPlan::ChannelPlan(ModuleOp module, const Target &target, const CodeOptions &options) {
  module.walk([&](Operation *op) {
    if (isConvolution(op) && target.getChannelOrder(op, options) == ChannelOrder::last)
      spread(op);
  });
  if (!ops.empty())
    choose(module, target, options);
}

/// Adds `op` to the ops that could move. Returns false if one of its values has other channels.
/// Adds to `reached` the values that `op` reads and computes.
bool ChannelPlan::add(Operation *op, const ChannelDims &dims, SmallVectorImpl<Value> &reached) {
  auto fits = [&](ValueRange values, ArrayRef<Channels> found) {
    return llvm::all_of(llvm::zip_equal(values, found), [&](auto pair) {
      auto [value, dimension] = pair;
      const auto *known = channels.find(value);
      return !dimension || known == channels.end() || known->second == *dimension;
    });
  };
  if (!fits(op->getOperands(), dims.operands) || !fits(op->getResults(), dims.results))
    return false;
  ops.insert({op, dims});
  auto reach = [&](ValueRange values, ArrayRef<Channels> found) {
    for (auto [value, dimension] : llvm::zip_equal(values, found))
      if (dimension && channels.insert({value, *dimension}).second &&
          !keepsElements(typeOf(value), *dimension))
        reached.push_back(value);
  };
  reach(op->getOperands(), dims.operands);
  reach(op->getResults(), dims.results);
  return true;
}

/// Finds the ops that could move if `convolution` moves: those that read or compute a value of an
/// op that could move.
void ChannelPlan::spread(Operation *convolution) {
  SmallVector<Value> reached;
  if (ops.contains(convolution))
    return;
  const auto dims = findChannels(convolution, std::nullopt, /*result=*/0, /*dimension=*/1);
  if (!dims || !add(convolution, *dims, reached))
    return;
  while (!reached.empty()) {
    Value value = reached.pop_back_val();
    const int64_t dimension = channels.find(value)->second;
    auto visit = [&](Operation *op, std::optional<unsigned> operand,
                     std::optional<unsigned> result) {
      // A transposition moves elements anyway, so it is the end of a chain.
      if (ops.contains(op) || isa<TransposeOp>(op))
        return;
      const auto found = findChannels(op, operand, result, dimension);
      if (found && !isRemade(op, *found))
        add(op, *found, reached);
    };
    if (auto result = dyn_cast<OpResult>(value))
      visit(result.getOwner(), std::nullopt, result.getResultNumber());
    for (OpOperand &use : value.getUses())
      visit(use.getOwner(), use.getOperandNumber(), std::nullopt);
  }
}

bool ChannelPlan::needsNoOrder(OpOperand &use) {
  return isa<AfterOp>(use.getOwner()) && use.getOperandNumber() == 1;
}

/// The bytes that a transposition of `value` reads and writes. None if a reshape is enough, or if
/// the value can be made in another order.
static int64_t costOf(Value value, int64_t channels) {
  const RankedTensorType type = typeOf(value);
  Operation *maker = value.getDefiningOp();
  if (keepsElements(type, channels) || (maker && isa<TransposeOp>(maker)))
    return 0;
  if (maker) {
    const auto dims =
        findChannels(maker, std::nullopt, cast<OpResult>(value).getResultNumber(), channels);
    if (dims && isRemade(maker, *dims))
      return 0;
  }
  return 2 * static_cast<int64_t>(tensorBytes(type));
}

void ChannelPlan::choose(ModuleOp module, const Target &target, const CodeOptions &options) {
  // The source has the ops with channels last.
  MinimumCut cut;
  llvm::DenseMap<Operation *, int64_t> nodes;
  for (auto &[op, dims] : ops)
    nodes[op] = cut.addNode();
  for (auto &[op, dims] : ops) {
    if (!isConvolution(op))
      continue;
    int64_t copied = 0;
    for (Value value : {op->getOperand(0), op->getOperand(1), Value(op->getResult(0))})
      if (const auto *known = channels.find(value);
          known != channels.end() && !keepsElements(typeOf(value), known->second))
        copied += 2 * static_cast<int64_t>(tensorBytes(value.getType()));
    const ChannelOrder order = target.getChannelOrder(op, options);
    if (order == ChannelOrder::last)
      cut.addEdge(MinimumCut::source, nodes[op], copied);
    else if (order == ChannelOrder::second)
      cut.addEdge(nodes[op], MinimumCut::sink, copied);
  }
  for (auto &[value, dimension] : channels) {
    const int64_t cost = costOf(value, dimension);
    if (cost == 0)
      continue;
    Operation *maker = value.getDefiningOp();
    const int64_t made = maker && nodes.contains(maker) ? nodes[maker] : MinimumCut::sink;
    // One copy is enough for all readers of the other order.
    int64_t copyToLast = -1, copyFromLast = -1;
    for (OpOperand &use : value.getUses()) {
      if (needsNoOrder(use) || isa<TransposeOp>(use.getOwner()))
        continue;
      auto node = nodes.find(use.getOwner());
      const bool mayMove =
          node != nodes.end() && ops.find(use.getOwner())->second.operands[use.getOperandNumber()];
      const int64_t read = mayMove ? node->second : MinimumCut::sink;
      if (read == made)
        continue;
      if (read != MinimumCut::sink) {
        if (copyToLast < 0)
          cut.addEdge(copyToLast = cut.addNode(), made, cost);
        cut.addEdge(read, copyToLast, MinimumCut::kNever);
      }
      if (made != MinimumCut::sink) {
        if (copyFromLast < 0)
          cut.addEdge(made, copyFromLast = cut.addNode(), cost);
        cut.addEdge(copyFromLast, read, MinimumCut::kNever);
      }
    }
  }
  cut.run();
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto node = nodes.find(op);
    if (node != nodes.end() && cut.isOnSourceSide(node->second))
      movedOps.insert(op);
  });
}

llvm::Error ChannelPlan::verify() const {
  auto fail = [](Operation *op, const llvm::Twine &what) {
    return llvm::createStringError(op->getName().getStringRef() + " " + what);
  };
  for (Operation *op : movedOps) {
    const auto *entry = ops.find(op);
    if (entry == ops.end())
      return fail(op, "moves, but has no channels");
    auto check = [&](ValueRange values, ArrayRef<Channels> dims) {
      return values.size() == dims.size() &&
             llvm::all_of(llvm::zip_equal(values, dims), [&](auto pair) {
               auto [value, dimension] = pair;
               return !dimension || (*dimension >= 0 && *dimension < typeOf(value).getRank() &&
                                     channels.lookup(value) == *dimension);
             });
    };
    if (!check(op->getOperands(), entry->second.operands) ||
        !check(op->getResults(), entry->second.results))
      return fail(op, "moves channels that are not those of its values");
  }
  return llvm::Error::success();
}

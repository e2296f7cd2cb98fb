// Prepares the ops of one kernel for code generation, and decides which values are
// materialized in memory.

#include "targets/Loops/Kernels/KernelGraph.h"

#include "dialects/NN/IR/Indexing.h"
#include "dialects/NN/IR/JoinedKernels.h"
#include "dialects/NN/IR/Shape.h"
#include "targets/Loops/Rules.h"
#include "targets/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;
using namespace dpc;

bool dpc::keepsNumbers(Operation *op) { return isa<ElementwiseOpInterface, nn::ReshapeOp>(op); }

FailureOr<std::unique_ptr<KernelGraph>> KernelGraph::build(Operation *op, const Target &target,
                                                           bool recompute) {
  std::unique_ptr<KernelGraph> graph(new KernelGraph(target));
  if (auto kernel = dyn_cast<nn::KernelOp>(op))
    graph->take(kernel);
  else if (auto update = dyn_cast<nn::UpdateOp>(op))
    graph->take(update);
  else
    return op->emitOpError("is neither nn.kernel nor nn.update");
  graph->block = &graph->region.front();
  graph->decompose();
  graph->mergeEqual();
  if (failed(graph->check()))
    return failure();
  graph->place(recompute);
  graph->setParts(nn::getJoined(op));
  return graph;
}

/// Assigns each op to the first part whose results it computes, directly or for other ops.
void KernelGraph::setParts(ArrayRef<int64_t> joined) {
  partCount = std::max<size_t>(1, joined.size());
  auto result = getYielded().begin();
  for (auto [part, count] : llvm::enumerate(joined)) {
    SmallVector<Operation *> open;
    for (int64_t n = 0; n < count; ++n, ++result)
      if (Operation *op = (*result).getDefiningOp())
        open.push_back(op);
    while (!open.empty()) {
      Operation *op = open.pop_back_val();
      if (!parts.try_emplace(op, part).second)
        continue;
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          open.push_back(producer);
    }
  }
}

bool KernelGraph::isFilled(Operation *op) const {
  OpForm form = target.getForm(op);
  return form == OpForm::whole || form == OpForm::tiles;
}

bool KernelGraph::makesTiles(Operation *op) const { return target.getForm(op) == OpForm::tiles; }

void KernelGraph::take(nn::KernelOp kernel) {
  IRMapping mapping;
  kernel.getBody().cloneInto(&region, mapping);
}

void KernelGraph::take(nn::UpdateOp update) {
  Block &block = region.emplaceBlock();
  OpBuilder builder(update.getContext());
  builder.setInsertionPointToEnd(&block);
  for (Value operand : update.getOperands())
    block.addArgument(operand.getType(), update.getLoc());
  SmallVector<Value> results = nn::cloneUpdate(update, block.getArguments(), builder);
  builder.create<nn::YieldOp>(update.getLoc(), results);
}

void KernelGraph::decompose() {
  Block &block = getBlock();
  for (auto at = block.begin(); at != block.end();) {
    Operation *op = &*at;
    if (target.getForm(op) != OpForm::composite) {
      ++at;
      continue;
    }
    Operation *before = op->getPrevNode();
    OpBuilder builder(op);
    SmallVector<Value> values = target.decompose(op, builder);
    op->replaceAllUsesWith(values);
    op->erase();
    // The decomposition may have composites, so visit its ops too.
    at = before ? std::next(before->getIterator()) : block.begin();
  }
}

void KernelGraph::mergeEqual() {
  Block &block = getBlock();
  std::map<size_t, SmallVector<Operation *>> seen;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    size_t hash = OperationEquivalence::computeHash(&op, OperationEquivalence::directHashValue,
                                                    OperationEquivalence::ignoreHashValue,
                                                    OperationEquivalence::IgnoreLocations);
    SmallVector<Operation *> &bucket = seen[hash];
    auto equal = llvm::find_if(bucket, [&](Operation *other) {
      return OperationEquivalence::isEquivalentTo(other, &op,
                                                  OperationEquivalence::IgnoreLocations);
    });
    if (equal == bucket.end()) {
      bucket.push_back(&op);
      continue;
    }
    op.replaceAllUsesWith(*equal);
    op.erase();
  }
  for (Operation *op = block.getTerminator()->getPrevNode(); op;) {
    Operation *before = op->getPrevNode();
    if (op->use_empty())
      op->erase();
    op = before;
  }
}

LogicalResult KernelGraph::check() {
  for (Operation &op : getBlock().without_terminator())
    if (target.getForm(&op) == OpForm::none)
      return op.emitOpError(
          "has neither an element rule nor a fill rule: code cannot be generated");
  return success();
}

namespace {
/// How often each element of a value is computed if the value is inlined. The map
/// has one entry for each loop that would compute it: a key that identifies the
/// loop, and a weight that says how often this loop computes the element.
///
/// A root with n elements has the key (0, n), because roots of one size may share a
/// loop. Elementwise ops between the value and the root have the same key. An op
/// that reads the value in another order, e.g. a transposition or a reduction, has
/// the key (ordinal of the op, number of the operand). The weight of this key is the
/// number of elements of the op that read one element of the value, times how often
/// each of these elements is computed.
using Accesses = std::map<std::pair<unsigned, int64_t>, double>;
} // namespace

/// How often all loops together compute an element.
static double total(const Accesses &accesses) {
  double sum = 0;
  for (const auto &[key, weight] : accesses)
    sum += weight;
  return sum;
}

/// The cost of one element of an elementwise op, in simple instructions
/// (ElementCosts).
static double elementCost(FormulaOpInterface op, const ElementCosts &costs) {
  OpBuilder builder(op->getContext());
  Block scratch;
  builder.setInsertionPointToEnd(&scratch);
  for (Type type : op->getOperandTypes())
    scratch.addArgument(registerType(getElementTypeOrSelf(type)), op->getLoc());
  op.emitFormula(builder, op->getLoc(), scratch.getArguments());
  double cost = 0;
  for (Operation &made : scratch) {
    bool isMath = isa_and_nonnull<math::MathDialect>(made.getDialect());
    if (isa<arith::ConstantOp>(made))
      continue;
    if (isa<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::RoundEvenOp>(made))
      cost += 1;
    else if (isa<arith::DivFOp, math::SqrtOp>(made))
      cost += costs.division;
    else if (isMath ||
             isa<arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
                 made))
      cost += costs.function;
    else
      cost += 1;
  }
  return cost;
}

/// Whether the result of `op` is few elements of its operand, at positions that an index tensor
/// has.
static bool picksFew(Operation &op) {
  const int64_t kFew = 32; // one of so many
  auto gather = dyn_cast<nn::GatherElementsOp>(op);
  return gather && nn::typeOf(gather.getResult()).getNumElements() * kFew <=
                       nn::typeOf(gather.getInput()).getNumElements();
}

// A value is materialised (kept in memory) for any of these reasons:
//
// * The kernel returns the value, or a fill rule computes it.
// * Computing it in each loop that reads it costs more than computing it once,
//   storing it and loading it. If `recompute` is not set, it is enough that the value
//   has several readers, or would be computed more than once.
// * One element costs a long loop, e.g. a sum over a row. In comparison, storing
//   and loading the element costs little. As a root, it can share the loop with
//   other roots over the same rows.
// * Indices pick few elements of a large tensor, e.g. the logits of labels. As a root, the op
//   shares the loop over the rows of this tensor. No later loop then needs the tensor, so that a
//   result may have its memory.
//
// The results of other ops that only move elements are materialised only for the first
// reason, because computing an index again costs nothing.
//
// The cost of an element includes the cost of its operands, unless these are in
// memory. Therefore the decision for one value depends on the decisions for others.
// The function decides twice: first as if no value were in memory, then with the
// values that the first round materialised.
void KernelGraph::place(bool recompute) {
  placeOnce(recompute);
  placeOnce(recompute);
}

void KernelGraph::placeOnce(bool recompute) {
  const ElementCosts prices = target.getElementCosts();
  Block &block = getBlock();
  DenseMap<Value, double> costs; // the cost of one element
  DenseMap<Operation *, unsigned> ordinals;
  for (Operation &op : block.without_terminator()) {
    ordinals[&op] = ordinals.size() + 1;
    double operands = 0;
    for (Value operand : op.getOperands())
      if (!materialised.contains(operand))
        operands += costs.lookup(operand);
    double cost = operands;
    if (auto elementwise = dyn_cast<FormulaOpInterface>(op)) {
      cost += elementCost(elementwise, prices);
    } else if (auto loops = dyn_cast<ElementOpInterface>(op)) {
      double rounds = loops.getElementCost();
      if (rounds > 0)
        cost = rounds * (1 + operands);
    }
    for (Value result : op.getResults())
      costs[result] = std::min(cost, 1e12);
  }
  materialised.clear();
  roots.clear();
  DenseSet<Value> yielded;
  for (Value value : getYielded())
    yielded.insert(value);

  DenseMap<Value, Accesses> accesses;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (isa<nn::ConstantOp>(op))
      continue;
    auto loops = dyn_cast<ElementOpInterface>(op);
    bool onlyMoves = !isa<ElementwiseOpInterface>(op) && loops && loops.getElementCost() == 0;
    bool keep = isFilled(&op) || picksFew(op);
    Accesses mine;
    for (Value result : op.getResults()) {
      Accesses &reads = accesses[result];
      double cost = costs.lookup(result);
      keep |= yielded.contains(result) ||
              (!onlyMoves && (total(reads) - 1) * cost > prices.storeAndLoad) ||
              (!onlyMoves && !recompute && (total(reads) > 1 || !result.hasOneUse())) ||
              (!onlyMoves && loops && cost > prices.longElement);
      mine.insert(reads.begin(), reads.end());
    }
    if (keep) {
      mine.clear();
      int64_t count = nn::typeOf(op.getResult(0)).getNumElements();
      mine[{0u, count}] = 1;
      for (Value result : op.getResults())
        materialised.insert(result);
      roots.push_back(&op);
    }
    double sum = total(mine);
    for (OpOperand &operand : op.getOpOperands()) {
      Accesses &reads = accesses[operand.get()];
      if (keepsNumbers(&op)) {
        for (auto [key, weight] : mine)
          reads[key] = std::max(reads[key], weight);
        continue;
      }
      unsigned number = operand.getOperandNumber();
      double each = loops ? loops.getReadsPerElement(number) : resultElementsPer(&op, number);
      reads[{ordinals[&op], operand.getOperandNumber()}] += each * sum;
    }
  }
  std::reverse(roots.begin(), roots.end());
}

bool KernelGraph::isComputedOnce(Value value) const {
  while (!isMaterialised(value)) {
    if (!value.hasOneUse() || !keepsNumbers(*value.user_begin()))
      return false;
    value = value.user_begin()->getResult(0);
  }
  return true;
}

llvm::SetVector<Operation *> KernelGraph::getNeighboursRules(Operation *op) const {
  llvm::SetVector<Operation *> rules;
  llvm::SetVector<Operation *> open;
  open.insert(op);
  for (size_t n = 0; n < open.size(); ++n) {
    Operation *next = open[n];
    if (auto rule = dyn_cast<ElementOpInterface>(next); rule && rule.joinsNeighbours())
      rules.insert(next);
    if (!isa<FormulaOpInterface>(next))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && !isMaterialised(operand))
        open.insert(producer);
  }
  return rules;
}

llvm::SetVector<Value> KernelGraph::getReads(Operation *root) const {
  llvm::SetVector<Value> reads;
  DenseSet<Operation *> visited;
  SmallVector<Operation *> open{root};
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || isMaterialised(operand))
        reads.insert(operand);
      else if (visited.insert(producer).second)
        open.push_back(producer);
    }
  }
  return reads;
}

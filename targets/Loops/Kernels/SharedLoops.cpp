// Decides whether roots may share loops. From the element that an iteration
// computes, it follows reads through all inlined values to elements in memory. If the
// loops themselves compute such an element, they must have computed it before.

#include "targets/Loops/Kernels/LoopPlan.h"

#include "targets/Loops/Kernels/RowIndex.h"
#include "targets/Loops/Rules.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace dpc;

namespace {
class SharedLoops : public IndexSpace {
public:
  SharedLoops(const KernelGraph &graph, const LoopGroup &group)
      : IndexSpace(graph.getBlock().getTerminator()->getContext()), graph(graph), group(group) {
    for (auto [number, stage] : llvm::enumerate(group.stages))
      for (Operation *root : stage.roots)
        for (Value result : root->getResults())
          stageOf[result] = number;
  }

  bool areLegal() {
    row = loopVariable(group.rows.count);
    for (auto [number, roots] : llvm::enumerate(group.stages)) {
      if (number == 0 && group.isFilled)
        continue; // the stage reads no root of this group
      stage = number;
      current = elementOfStage(roots);
      made.clear();
      visited.clear();
      for (Operation *root : roots.roots) {
        visitOperands(root, 0, ElementIndex(*this, shapeOf(root->getResult(0)), current));
        made.insert(root);
      }
    }
    return isLegal;
  }

  bool canRead(Value value, unsigned number) {
    row = loopVariable(group.rows.count);
    stage = number;
    current = elementOfStage(group.stages[stage]);
    made.insert(group.stages[stage].roots.begin(), group.stages[stage].roots.end());
    visit(value, ElementIndex(*this, shapeOf(value), current));
    return isLegal;
  }

  /// After areLegal(): how the loops read values that they do not compute.
  llvm::MapVector<Value, RowReads> takeReads() { return std::move(reads); }

  Index readIndex(Value, const ElementIndex &, int64_t extent) override {
    return indices.emplace_back(variable(0, std::max<int64_t>(0, extent - 1)));
  }
  /// Assume that every dimension has a loop of its own.
  SmallVector<int64_t> splitStrides(Value tensor) override {
    return rowMajorStrides(shapeOf(tensor));
  }

private:
  static ArrayRef<int64_t> shapeOf(Value value) { return nn::typeOf(value).getShape(); }

  Index loopVariable(int64_t extent) { return extent == 1 ? constant(0) : variable(0, extent - 1); }

  /// The number of the element that one iteration of the stage's loops computes,
  /// as an expression of loop variables.
  Index elementOfStage(const LoopGroup::Stage &roots) {
    if (group.isFilled)
      return variable(0, roots.getElements() - 1);
    SmallVector<Index> index;
    for (int64_t extent : roots.nest.extents)
      index.push_back(loopVariable(extent));
    return RowIndex(*this, group.rows, roots.getElements())
        .numberOf(row, linearize(index, roots.nest.extents));
  }

  /// Visits the elements of operands from which the element of `op` at `index` is
  /// computed.
  void visitOperands(Operation *op, unsigned result, const ElementIndex &index) {
    if (isa<ElementwiseOpInterface>(op)) {
      for (Value operand : op->getOperands())
        visit(operand, index);
      return;
    }
    cast<ElementOpInterface>(op).visitReads(
        *this, result, index,
        [&](unsigned operand, const ElementIndex &at) { visit(op->getOperand(operand), at); });
  }

  void visit(Value value, const ElementIndex &index) {
    Index number = index.number();
    if (!visited.insert({value, number.getAsOpaquePointer()}).second)
      return;
    auto maker = stageOf.find(value);
    if (maker != stageOf.end()) {
      isLegal &= isMade(value, maker->second, number);
      return;
    }
    Operation *op = value.getDefiningOp();
    if (!op || graph.isMaterialised(value))
      noteRead(value, number);
    else if (!isa<nn::ConstantOp>(op))
      visitOperands(op, cast<OpResult>(value).getResultNumber(), index);
  }

  /// Notes a read in the current stage. Reductions have loops of their own, so each of them reads
  /// another `number`.
  void noteRead(Value value, Index number) {
    RowReads &found = reads[value];
    if (llvm::none_of(indices, [&](Index index) {
          return number.isFunctionOfDim(cast<AffineDimExpr>(index).getPosition());
        }))
      ++found.passes;
    const int64_t count = nn::typeOf(value).getNumElements();
    found.areInRow &= count > 0 && count % group.rows.count == 0 && group.rows.fit(count) &&
                      RowIndex(*this, group.rows, count).rowOf(number) == row;
  }

  /// Whether element `number` of `value` has been computed. Stage `maker` computes
  /// `value`.
  bool isMade(Value value, unsigned maker, Index number) {
    if (maker == stage)
      return number == current && made.contains(value.getDefiningOp());
    if (group.isFilled)
      return number == current;
    return RowIndex(*this, group.rows, nn::typeOf(value).getNumElements()).rowOf(number) == row;
  }

  const KernelGraph &graph;
  const LoopGroup &group;
  DenseMap<Value, unsigned> stageOf;
  llvm::MapVector<Value, RowReads> reads;
  /// The variables that stand for elements of index tensors.
  SmallVector<Index> indices;
  /// The current iteration: the row, the number of the element, and the roots of
  /// the stage that have computed this element.
  Index row, current;
  unsigned stage = 0;
  DenseSet<Operation *> made;
  DenseSet<std::pair<Value, const void *>> visited;
  bool isLegal = true;
};
} // namespace

bool dpc::canShareLoops(const KernelGraph &graph, const LoopGroup &group) {
  return SharedLoops(graph, group).areLegal();
}

llvm::MapVector<Value, RowReads> dpc::findRowReads(const KernelGraph &graph,
                                                   const LoopGroup &group) {
  SharedLoops loops(graph, group);
  loops.areLegal();
  return loops.takeReads();
}

bool dpc::canReadInLoops(const KernelGraph &graph, const LoopGroup &group, unsigned stage,
                         Value value) {
  return SharedLoops(graph, group).canRead(value, stage);
}

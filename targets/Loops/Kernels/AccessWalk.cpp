// Visits the loops of a kernel in the order in which KernelEmitter emits them, and
// records the elements in memory that they read and write.

#include "targets/Loops/Kernels/AccessWalk.h"

#include "dialects/NN/IR/Shape.h"
#include "targets/Loops/Kernels/RowIndex.h"
#include "targets/Loops/Rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

#include <functional>

using namespace mlir;
using namespace dpc;

static ArrayRef<int64_t> shapeOf(Value value) { return nn::typeOf(value).getShape(); }

//===----------------------------------------------------------------------===//
// Scopes and loops
//===----------------------------------------------------------------------===//

void AccessWalk::scoped(function_ref<void()> body) {
  scopes.emplace_back();
  body();
  scopes.pop_back();
}

AccessWalk::Index AccessWalk::asVariable(Index expression, int64_t low, int64_t high) {
  if (isa<AffineDimExpr>(expression))
    return expression;
  for (const Scope &scope : llvm::reverse(scopes))
    if (Index known = scope.variables.lookup(expression))
      return known;
  return scopes.back().variables[expression] = variable(low, high);
}

void AccessWalk::loops(ArrayRef<int64_t> shape, Body body) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<Index> index;
  std::function<void()> nest = [&] {
    if (index.size() == shape.size())
      return body(index);
    int64_t extent = shape[index.size()];
    auto iteration = [&](Index i) {
      index.push_back(i);
      nest();
      index.pop_back();
    };
    if (extent == 1)
      return iteration(constant(0));
    scoped([&] { iteration(variable(0, extent - 1)); });
  };
  nest();
}

void AccessWalk::inLoops(ArrayRef<int64_t> shape, Body body) { loops(shape, body); }

void AccessWalk::inBranch(bool isConditional, function_ref<void()> body) {
  if (isConditional)
    scoped(body);
  else
    body();
}

void AccessWalk::forEachRow(int64_t rows, function_ref<void(Index)> body) {
  loops({rows}, [&](ArrayRef<Index> row) { body(row[0]); });
}

void AccessWalk::forEachElement(const LoopNest &nest, Body body) { forEach(nest.extents, body); }

void AccessWalk::forEach(ArrayRef<int64_t> shape, Body body) { loops(shape, body); }

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

KernelAccesses::Access AccessWalk::here(Index number) const {
  return {group, part, stage, number, row, rows, filling};
}

void AccessWalk::read(Value tensor, const ElementIndex &index) {
  Index number = index.number();
  Element element{tensor.getAsOpaquePointer(), number};
  if (llvm::any_of(scopes, [&](const Scope &scope) { return scope.elements.contains(element); }))
    return;
  if (!places.find(tensor))
    compute(tensor, index);
  else if (isa<BlockArgument>(tensor))
    accesses.reads[tensor].push_back(here(number));
  scopes.back().elements.insert(element);
}

void AccessWalk::compute(Value tensor, const ElementIndex &index) {
  Operation *op = tensor.getDefiningOp();
  if (isa<nn::ConstantOp>(op))
    return;
  if (isa<ElementwiseOpInterface>(op)) {
    for (Value operand : op->getOperands())
      read(operand, index);
    return;
  }
  llvm::SaveAndRestore ordered(orderedSums, keepsOrder || !graph.isComputedOnce(tensor));
  cast<ElementOpInterface>(op).visitReads(
      *this, cast<OpResult>(tensor).getResultNumber(), index,
      [&](unsigned operand, const ElementIndex &at) { read(op->getOperand(operand), at); });
}

AccessWalk::Index AccessWalk::readIndex(Value tensor, const ElementIndex &index, int64_t extent) {
  read(tensor, index);
  Element element{tensor.getAsOpaquePointer(), index.number()};
  for (const Scope &scope : llvm::reverse(scopes))
    if (Index known = scope.indices.lookup(element))
      return known;
  return scopes.back().indices[element] = variable(0, std::max<int64_t>(0, extent - 1));
}

SmallVector<int64_t> AccessWalk::splitStrides(Value tensor) {
  return dpc::splitStrides(graph, tensor);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void AccessWalk::visitGroup(const LoopGroup &group, unsigned ordinal) {
  this->group = ordinal;
  stage = 1;
  rows = group.rows;
  row = constant(0);
  if (group.isFilled)
    visitFilled(group);
  else
    forEachRow(rows.count, [&](Index i) {
      row = i;
      for (auto [number, roots] : llvm::enumerate(group.stages)) {
        stage = number + 1;
        forEachElement(roots.nest, [&](ArrayRef<Index> index) {
          visitElements(roots.roots, RowIndex(*this, rows, roots.getElements())
                                         .numberOf(row, linearize(index, roots.nest.extents)));
        });
      }
    });
  row = constant(0);
  rows = {};
}

void AccessWalk::visitFilled(const LoopGroup &group) {
  Operation *op = group.stages[0].roots[0];
  filling = true;
  orderedSums = keepsOrder;
  for (Operation *root : group.stages[0].roots)
    visitFill(root);
  filling = false;
  if (group.stages.size() == 1)
    return;
  // The second stage is computed where the rule has final elements.
  stage = 2;
  for (int64_t n = 0; n < std::min<int64_t>(2, countFinishes(op)); ++n)
    scoped([&] {
      Index number = variable(0, group.stages[0].getElements() - 1);
      for (Operation *root : group.stages[0].roots)
        scopes.back().elements.insert({root->getResult(0).getAsOpaquePointer(), number});
      visitElements(group.stages[1].roots, number);
    });
}

void AccessWalk::visitFill(Operation *op) {
  visitFillReads(op);
  visitFillWrites(op);
}

void AccessWalk::visitFillReads(Operation *op) {
  auto rule = dyn_cast<FillOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    int64_t count = nn::typeOf(value).getNumElements();
    if (count == 0)
      continue;
    Index number = count == 1 ? constant(0) : variable(0, count - 1);
    bool isOpen = count == 1 && rule && rule.readsInOpen(operand.getOperandNumber());
    inBranch(!isOpen, [&] { read(value, ElementIndex(*this, shapeOf(value), number)); });
  }
}

void AccessWalk::visitFillWrites(Operation *op) {
  for (Value result : op->getResults())
    if (places.isResult(result))
      accesses.writes[result].push_back(here(constant(0)));
}

/// Visits the computation and the store of element `number` of each result of `roots`.
void AccessWalk::visitElements(ArrayRef<Operation *> roots, Index number) {
  for (Operation *op : roots)
    for (Value result : op->getResults()) {
      compute(result, ElementIndex(*this, shapeOf(result), number));
      scopes.back().elements.insert({result.getAsOpaquePointer(), number});
    }
  visitUses(number);
  for (Operation *op : roots)
    for (Value result : op->getResults())
      if (places.isResult(result))
        accesses.writes[result].push_back(here(number));
}

void AccessWalk::visitFillsOf(ArrayRef<Operation *> ops, unsigned ordinal) {
  group = ordinal;
  stage = 1;
  filling = true;
  for (Operation *op : ops)
    visitFillWrites(op);
  filling = false;
}

void AccessWalk::visitCopy(Value from, unsigned ordinal) {
  group = ordinal;
  stage = 1;
  SmallVector<int64_t> extents = readingExtents(graph, from);
  forEach(extents, [&](ArrayRef<Index> index) {
    read(from, ElementIndex(*this, shapeOf(from), linearize(index, extents)));
  });
}

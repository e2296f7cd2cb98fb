#ifndef DPC_TARGETS_LOOPS_RULES_H
#define DPC_TARGETS_LOOPS_RULES_H

#include "dialects/Interfaces/Interfaces.h"
#include "targets/Loops/LoopEmitter.h"

namespace dpc {

/// A callback that gets one element that a rule reads: the number of the operand
/// and the index of the element.
using VisitRead = llvm::function_ref<void(unsigned operand, const ElementIndex &index)>;

/// How the work of a fill rule is divided among threads.
struct FillParts {
  /// The number of parts. Parts are independent: a part stores no element that
  /// another part reads or stores.
  int64_t count = 1;
  /// The number of threads that may share one part. They divide the iterations of
  /// its forEach loops and the terms of its reductions among themselves.
  int64_t width = 1;
};

/// The number of elements of the result of `op` per element of operand `operand`,
/// rounded up.
int64_t resultElementsPer(mlir::Operation *op, unsigned operand);

} // namespace dpc

#include "targets/Loops/ElementOpInterface.h.inc"
#include "targets/Loops/FillOpInterface.h.inc"
#include "targets/Loops/FormulaOpInterface.h.inc"

namespace dpc {

/// Base of the element rule of an op. For an op of the class `Op`, a `Model`
/// defines
///
///   void reads(Op op, IndexSpace &space, const ElementIndex &index,
///              VisitRead read) const
///   Value element(Op op, LoopEmitter &e, const ElementIndex &index) const
///
/// for the element at `index` of the only result of the op. A rule that emits a
/// loop also defines `getElementCost` and `getReadsPerElement` of the interface.
template <typename Model, typename Op>
struct ElementRule : ElementOpInterface::ExternalModel<Model, Op> {
  void visitReads(mlir::Operation *op, IndexSpace &space, unsigned, const ElementIndex &index,
                  VisitRead read) const {
    model().reads(llvm::cast<Op>(op), space, index, read);
  }
  mlir::Value emitElementAt(mlir::Operation *op, LoopEmitter &emitter, unsigned,
                            const ElementIndex &index) const {
    return model().element(llvm::cast<Op>(op), emitter, index);
  }

private:
  const Model &model() const { return static_cast<const Model &>(*this); }
};

/// Base of the element rule of an op that computes neighbours in the same loops and branches.
/// Instead of `element`, the `Model` defines
///
///   Values elements(Op op, LoopEmitter &e, ArrayRef<ElementIndex> indices) const
///
/// for one element, or for several if `joinsNeighbours` of the interface permits it.
template <typename Model, typename Op> struct NeighboursRule : ElementRule<Model, Op> {
  mlir::Value element(Op op, LoopEmitter &e, const ElementIndex &index) const {
    return model().elements(op, e, index)[0];
  }
  LoopEmitter::Values emitNeighboursAt(mlir::Operation *op, LoopEmitter &e, unsigned,
                                       llvm::ArrayRef<ElementIndex> indices) const {
    return model().elements(llvm::cast<Op>(op), e, indices);
  }

private:
  const Model &model() const { return static_cast<const Model &>(*this); }
};

/// The index of the element at `positions` in `tensor`.
ElementIndex elementOf(IndexSpace &space, mlir::Value tensor,
                       llvm::ArrayRef<mlir::AffineExpr> positions);

/// Base of the element rule of an op that only moves elements: each element of the
/// op's result is an element of the op's first operand. The `Model` says which one:
///
///   ElementIndex source(Op op, IndexSpace &space,
///                       const ElementIndex &index) const
template <typename Model, typename Op> struct MoveRule : ElementRule<Model, Op> {
  void reads(Op op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    read(0, model().source(op, space, index));
  }
  mlir::Value element(Op op, LoopEmitter &e, const ElementIndex &index) const {
    return e.read(op->getOperand(0), model().source(op, e, index));
  }

private:
  const Model &model() const { return static_cast<const Model &>(*this); }
};

/// Base of the fill rule of an op. For an op of the class `Op`, a `Model` defines
///
///   FillParts parts(Op op, int64_t wanted) const
///   void fill(Op op, LoopEmitter &e, FillParts parts) const
///
/// A rule that takes scratch memory also defines `getScratch` of the interface.
template <typename Model, typename Op> struct FillRule : FillOpInterface::ExternalModel<Model, Op> {
  FillParts getParts(mlir::Operation *op, int64_t wanted) const {
    return model().parts(llvm::cast<Op>(op), wanted);
  }
  void emitFill(mlir::Operation *op, LoopEmitter &emitter, FillParts parts) const {
    model().fill(llvm::cast<Op>(op), emitter, parts);
  }

private:
  const Model &model() const { return static_cast<const Model &>(*this); }
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_RULES_H

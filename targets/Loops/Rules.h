#ifndef DPC_TARGETS_LOOPS_RULES_H
#define DPC_TARGETS_LOOPS_RULES_H

#include "dialects/Interfaces/Interfaces.h"
#include "targets/Loops/LoopEmitter.h"

namespace dpc {

/// Visits an element that is read, given by the number of the operand and an index.
using VisitRead = llvm::function_ref<void(unsigned operand, const ElementIndex &index)>;

/// The division of a fill rule's work.
struct FillParts {
  /// Number of parts. Parts store different elements, and read no elements of other
  /// parts.
  int64_t count = 1;
  /// Number of threads that may share a part: iterations of its forEach loops, or
  /// terms of its reductions.
  int64_t width = 1;
};

/// Number of result elements of `op` per element of operand `operand`, rounded up.
int64_t resultElementsPer(mlir::Operation *op, unsigned operand);

} // namespace dpc

#include "targets/Loops/ElementOpInterface.h.inc"
#include "targets/Loops/FillOpInterface.h.inc"

namespace dpc {

/// Base of the element rules of one op. For an op of class `Op`, `Model` defines
///
///   void reads(Op op, IndexSpace &space, const ElementIndex &index,
///              VisitRead read) const
///   Value element(Op op, LoopEmitter &e, const ElementIndex &index) const
///
/// for the element at `index` of its only result. A rule with a loop also defines
/// `getElementCost` and `getReadsPerElement` of the interface.
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

/// The index of the element of `tensor` at `positions`.
ElementIndex elementOf(IndexSpace &space, mlir::Value tensor,
                       llvm::ArrayRef<mlir::AffineExpr> positions);

/// Base of the element rules of an op that only moves elements: each element of the
/// result is one of its first operand. `Model` defines which one:
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

/// Base of the fill rule of one op. For an op of class `Op`, `Model` defines
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

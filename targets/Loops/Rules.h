#ifndef DPC_TARGETS_LOOPS_RULES_H
#define DPC_TARGETS_LOOPS_RULES_H

#include "dialects/Interfaces/Interfaces.h"
#include "targets/Loops/LoopEmitter.h"

namespace dpc {

/// Takes an element that is read: of which operand, and where.
using VisitRead = llvm::function_ref<void(unsigned operand, const ElementIndex &index)>;

/// How a fill rule divides its work.
struct FillParts {
  /// Parts that store different elements, and read none of each other's.
  int64_t count = 1;
  /// How many may share a part: iterations of its forEach loops, or terms of its
  /// reductions.
  int64_t width = 1;
};

/// Result elements of `op` over elements of operand `operand`, rounded up.
int64_t resultElementsPer(mlir::Operation *op, unsigned operand);

} // namespace dpc

#include "targets/Loops/ElementOpInterface.h.inc"
#include "targets/Loops/FillOpInterface.h.inc"

namespace dpc {

/// Base of the element rules of one op. `Model` says, for an op of class `Op`,
///
///   void reads(Op op, IndexSpace &space, const ElementIndex &index,
///              VisitRead read) const
///   Value element(Op op, LoopEmitter &e, const ElementIndex &index) const
///
/// of its only result, which has index `index`, and where it loops
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

/// Where the element of `tensor` at `positions` lies.
ElementIndex elementOf(IndexSpace &space, mlir::Value tensor,
                       llvm::ArrayRef<mlir::AffineExpr> positions);

/// Base of the element rules of one op whose elements are each one element of
/// its first operand. `Model` says which:
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

/// Base of the fill rule of one op. `Model` says, for an op of class `Op`,
///
///   FillParts parts(Op op, int64_t wanted) const
///   void fill(Op op, LoopEmitter &e, FillParts parts) const
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

#ifndef DPC_TARGETS_CPU_VECTORS_VECTORFILL_H
#define DPC_TARGETS_CPU_VECTORS_VECTORFILL_H

#include "targets/CPU/Vectors/VectorEmitter.h"

#include "targets/CPU/Vectors/VectorFillOpInterface.h.inc"

namespace dpc {

/// Base of the vector fill rule of an op. For an op of the class `Op`, a `Model`
/// defines
///
///   bool pays(Operation *op) const
///   void fill(Op op, VectorEmitter &e) const
///
/// If the rule computes results in tiles, the model also defines `makesTiles` of
/// the interface and
///
///   void tiles(Op op, VectorEmitter &e, FinishTile finish) const
///   int64_t tileKinds(Op op, const VectorSite &site) const
///
/// A rule that takes scratch memory also defines
///
///   ScratchSizes scratch(Op op, const VectorSite &site) const
template <typename Model, typename Op>
struct VectorFillRule : VectorFillOpInterface::ExternalModel<Model, Op> {
  void emitFill(mlir::Operation *op, VectorEmitter &emitter) const {
    model().fill(llvm::cast<Op>(op), emitter);
  }
  void emitTiles(mlir::Operation *op, VectorEmitter &emitter, FinishTile finish) const {
    model().tiles(llvm::cast<Op>(op), emitter, finish);
  }
  ScratchSizes getScratch(mlir::Operation *op, const VectorSite &site) const {
    return model().scratch(llvm::cast<Op>(op), site);
  }
  int64_t countTileKinds(mlir::Operation *op, const VectorSite &site) const {
    return model().tileKinds(llvm::cast<Op>(op), site);
  }
  int64_t tileKinds(Op, const VectorSite &) const { return 1; }
  ScratchSizes scratch(Op, const VectorSite &) const { return {}; }
  void tiles(Op, VectorEmitter &, FinishTile) const { llvm_unreachable("the rule makes no tiles"); }

private:
  const Model &model() const { return static_cast<const Model &>(*this); }
};

} // namespace dpc

#endif // DPC_TARGETS_CPU_VECTORS_VECTORFILL_H

#ifndef DPC_PASSES_OPTIMIZE_LOSSSCALE_H
#define DPC_PASSES_OPTIMIZE_LOSSSCALE_H

#include "dialects/NN/IR/Expressions.h"

namespace dpc {

/// What a step does whose gradients are those of a scaled loss (dynamic loss
/// scaling; Micikevicius et al., "Mixed precision training", ICLR 2018). Where
/// the loss and all gradients are finite the step is taken, and after `interval` of these in a
/// row the scale is doubled. Else nothing changes but the scale, which is halved.
struct LossScale {
  /// State: f32, i64 and i64, rank 0.
  mlir::Value scale, goodSteps, stepsSkipped;
  int64_t interval;
  /// Rank-0 i1: whether the loss and the gradients are finite.
  mlir::Value finite;

  /// Whether a norm, which is infinite or NaN with any gradient, is finite, and so is
  /// `loss` where there is one.
  static mlir::Value isFinite(nn::Expressions e, mlir::Value norm, mlir::Value loss);

  /// 1 / scale, of the scale's type.
  mlir::Value inverse(nn::Expressions e) const;
  /// `state` after the step, where it would be `updated` if the step is taken:
  /// in the region of the `nn.update` that makes it, if one does.
  mlir::Value choose(nn::Expressions e, mlir::Value updated, mlir::Value state) const;
  /// The new scale, good steps and steps skipped.
  llvm::SmallVector<mlir::Value> advance(nn::Expressions e) const;
};

} // namespace dpc

#endif // DPC_PASSES_OPTIMIZE_LOSSSCALE_H

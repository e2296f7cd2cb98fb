#ifndef DPC_PASSES_OPTIMIZE_LOSSSCALE_H
#define DPC_PASSES_OPTIMIZE_LOSSSCALE_H

#include "dialects/NN/IR/Expressions.h"

namespace dpc {

/// Dynamic loss scaling of a step (Micikevicius et al., "Mixed precision training", ICLR 2018). If
/// the loss and all gradients are finite, the step is taken; after `interval` such steps in a row
/// the scale is doubled. Otherwise the step is skipped: only the scale changes, which is halved.
struct LossScale {
  /// The arguments with the state of loss scaling: rank-0 f32, i64 and i64.
  mlir::Value scale, goodSteps, stepsSkipped;
  int64_t interval;
  /// Rank-0 i1: whether the loss and all gradients are finite, so that the step is taken.
  mlir::Value finite;

  /// Builds a rank-0 i1: whether `norm` is finite, and `loss` too if it is not null. The norm of
  /// all gradients is infinite or NaN if any gradient is.
  static mlir::Value isFinite(nn::Expressions e, mlir::Value norm, mlir::Value loss);

  /// Builds 1 / scale, of the scale's type.
  mlir::Value inverse(nn::Expressions e) const;
  /// Builds the value of a state after the step: `updated` if the step is taken, otherwise its old
  /// value `state`. If an `nn.update` computes `updated` from `state`, the choice is made in the
  /// region of this op, so that it needs no kernel of its own.
  mlir::Value choose(nn::Expressions e, mlir::Value updated, mlir::Value state) const;
  /// Builds the new values of scale, good steps and skipped steps, in this order.
  llvm::SmallVector<mlir::Value> advance(nn::Expressions e) const;
};

} // namespace dpc

#endif // DPC_PASSES_OPTIMIZE_LOSSSCALE_H

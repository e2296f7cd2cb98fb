#ifndef DPC_PASSES_OPTIMIZE_LOSSSCALE_H
#define DPC_PASSES_OPTIMIZE_LOSSSCALE_H

#include "dialects/NN/IR/Expressions.h"

namespace dpc {

/// Dynamic loss scaling of a step (Micikevicius et al., "Mixed precision training", ICLR 2018). If
/// the loss and all gradients are finite, the step is taken. After `interval` such steps in a row,
/// the scale is doubled. If the loss or a gradient is not finite, the step is skipped: the scale is
/// halved, and parameters, buffers and slots keep their values.
struct LossScale {
  /// The arguments that hold the state of loss scaling: rank-0 tensors of f32, i64 and i64.
  mlir::Value scale, goodSteps, stepsSkipped;
  int64_t interval;
  /// Rank-0 i1: whether the loss and all gradients are finite. The step is then taken.
  mlir::Value finite;

  /// Builds a rank-0 i1: whether `norm` is finite, and, if `loss` is not null, whether `loss` is
  /// finite too. If any gradient is infinite or NaN, so is the norm of all gradients.
  static mlir::Value isFinite(nn::Expressions e, mlir::Value norm, mlir::Value loss);

  /// Builds 1 / scale, in the type of the scale.
  mlir::Value inverse(nn::Expressions e) const;
  /// Builds the value of a state after the step: `updated` if the step is taken, otherwise the old
  /// value `state`. If an `nn.update` computes `updated` from `state`, the select becomes a part of
  /// the region of this op, so that it needs no kernel of its own.
  mlir::Value choose(nn::Expressions e, mlir::Value updated, mlir::Value state) const;
  /// Builds the new values of `scale`, `goodSteps` and `stepsSkipped`, in this order.
  llvm::SmallVector<mlir::Value> advance(nn::Expressions e) const;
};

} // namespace dpc

#endif // DPC_PASSES_OPTIMIZE_LOSSSCALE_H

#ifndef DPC_DIALECTS_NN_IR_LOSSSCALE_H
#define DPC_DIALECTS_NN_IR_LOSSSCALE_H

#include "dialects/NN/IR/NNDialect.h"

namespace dpc::nn {

/// Names of the state of loss scaling. With loss scaling, a step multiplies the
/// training loss by a scale, so that small gradients do not underflow in f16. The
/// state consists of three numbers: the scale, the number of steps with finite
/// gradients since the scale changed, and the number of skipped steps. A step is
/// skipped if its gradients are not finite. The three numbers are state of the kind
/// `optimizer`, but belong to no parameter.
constexpr llvm::StringLiteral kLossScaleName = "loss_scale",
                              kGoodStepsName = "loss_scale|good_steps",
                              kStepsSkippedName = "loss_scale|steps_skipped";

/// The argument of `function` that is the optimizer state `name`; null if
/// `function` has no such argument.
inline mlir::Value findOptimizerState(mlir::FunctionOpInterface function, llvm::StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (ArgAttr arg = getArg(function, i))
      if (arg.getKind() == ArgKind::optimizer && arg.getName() == name)
        return function.getArgument(i);
  return {};
}

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_LOSSSCALE_H

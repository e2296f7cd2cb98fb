#ifndef DPC_DIALECTS_NN_IR_LOSSSCALE_H
#define DPC_DIALECTS_NN_IR_LOSSSCALE_H

#include "dialects/NN/IR/NNDialect.h"

namespace dpc::nn {

/// State of a step whose gradients are computed from a scaled loss, so that small
/// gradients do not underflow in f16: the scale, the number of good steps since it
/// changed, and the number of skipped steps. It is `optimizer` state that belongs
/// to no parameter.
constexpr llvm::StringLiteral kLossScaleName = "loss_scale",
                              kGoodStepsName = "loss_scale|good_steps",
                              kStepsSkippedName = "loss_scale|steps_skipped";

/// The argument of `function` that is the optimizer state `name`; null if there is
/// none.
inline mlir::Value findOptimizerState(mlir::FunctionOpInterface function, llvm::StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (ArgAttr arg = getArg(function, i))
      if (arg.getKind() == ArgKind::optimizer && arg.getName() == name)
        return function.getArgument(i);
  return {};
}

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_LOSSSCALE_H

#ifndef DPC_PASSES_OPTIMIZE_OPTIMIZER_H
#define DPC_PASSES_OPTIMIZE_OPTIMIZER_H

#include "passes/Optimize/OptionSpec.h"

#include "dialects/NN/IR/Expressions.h"

#include <memory>

namespace dpc {

/// The values from which the update of one parameter is built.
struct UpdateInputs {
  mlir::Value parameter;
  /// The gradient. It has the parameter's shape, but its element type may be narrower.
  mlir::Value gradient;
  /// One tensor per slot, in the order of getSlots().
  llvm::SmallVector<mlir::Value> slots;
  /// Rank-0 f64: the learning rate of this parameter, which its groups may change.
  mlir::Value learningRate;
  /// Rank-0 f64: the number of this step. The first step has number 1. Steps that loss scaling
  /// skips do not count.
  mlir::Value step;
  /// Rank-0, of the parameter's type: a factor by which the gradient is multiplied first, for loss
  /// scaling and clipping. Null if there is no factor.
  mlir::Value gradientScale;
  /// The weight decay of this parameter, which its groups may change.
  double weightDecay = 0;
};

/// An optimization algorithm: the state that it keeps for each parameter, and the formula of one
/// step.
class Optimizer {
public:
  virtual ~Optimizer() = default;

  /// Returns the names of a parameter's slots (state tensors), such as `exp_avg` of Adam. The names
  /// are those of torch.optim.
  virtual llvm::ArrayRef<llvm::StringLiteral> getSlots() const = 0;

  /// Builds the new parameter and its new slots, in this order. All of them have the type of the
  /// parameter.
  virtual llvm::SmallVector<mlir::Value> build(nn::Expressions e,
                                               const UpdateInputs &inputs) const = 0;

  /// Returns the optimizer that `spec` (`NAME[,OPTION=VALUE..]`) describes. If `spec` is invalid,
  /// returns null and writes a message of one line to `error`. Writes the values of all options of
  /// the optimizer to `options`, including `lr` and `weight-decay`.
  static std::unique_ptr<Optimizer> create(llvm::StringRef spec, OptionSpec &options,
                                           std::string &error);

  /// Returns help text with one line per optimizer: its name, its options and their defaults.
  static std::string describeAll();
};

/// Builds an `nn.update` with the operands `tensors` and `scalars`. `body` builds the computation
/// of one element of each result. Its arguments are rank-0 values: one element of each tensor,
/// followed by the scalars.
llvm::SmallVector<mlir::Value> buildUpdate(
    nn::Expressions e, mlir::ValueRange tensors, mlir::ValueRange scalars,
    llvm::ArrayRef<mlir::Type> resultTypes,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(nn::Expressions, llvm::ArrayRef<mlir::Value>)>
        body);

/// Converts the gradient element to the parameter's type. If `inputs` has a gradient scale, also
/// multiplies it by `scale`.
inline mlir::Value scaledGradient(nn::Expressions e, mlir::Value gradient,
                                  const UpdateInputs &inputs, mlir::Value scale) {
  gradient = e.convert(gradient, nn::typeOf(inputs.parameter).getElementType());
  return inputs.gradientScale ? e.mul(gradient, scale) : gradient;
}

/// Builds x + factor y, or x if the factor is 0.
inline mlir::Value addScaled(nn::Expressions e, mlir::Value x, mlir::Value y, double factor) {
  return factor == 0 ? x : e.add(x, e.mul(y, factor));
}

// One factory per optimizer family. Each family has a file of its own.
std::unique_ptr<Optimizer> createSgd(const OptionSpec &options);
std::unique_ptr<Optimizer> createAdam(const OptionSpec &options);
std::unique_ptr<Optimizer> createAdagrad(const OptionSpec &options);
std::unique_ptr<Optimizer> createLamb(const OptionSpec &options);

} // namespace dpc

#endif // DPC_PASSES_OPTIMIZE_OPTIMIZER_H

// Stochastic gradient descent with or without (Nesterov) momentum, as in torch.optim.SGD with
// dampening 0:
//   d = g + wd p
//   without momentum:        p -= lr d
//   with momentum:           b = mu b + d;  p -= lr b
//   with Nesterov momentum:  b = mu b + d;  p -= lr (d + mu b)
// Here p is the parameter, g its gradient, and b the slot. Options set the learning rate lr, the
// weight decay wd and the momentum mu.

#include "passes/Optimize/Optimizer.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

namespace {

class Sgd final : public Optimizer {
public:
  explicit Sgd(const OptionSpec &options)
      : momentum(options["momentum"]), nesterov(options.name == "nesterov") {}

  ArrayRef<StringLiteral> getSlots() const override {
    static const StringLiteral slots[] = {"momentum_buffer"};
    return momentum == 0 ? ArrayRef<StringLiteral>() : slots;
  }

  SmallVector<Value> build(Expressions e, const UpdateInputs &in) const override {
    Type type = in.parameter.getType();
    SmallVector<Value> tensors = {in.parameter, in.gradient};
    llvm::append_range(tensors, in.slots);
    SmallVector<Value> scalars = {
        e.convert(in.learningRate, typeOf(in.parameter).getElementType())};
    if (in.gradientScale)
      scalars.push_back(in.gradientScale);
    SmallVector<Type> types(1 + in.slots.size(), type);
    return buildUpdate(e, tensors, scalars, types,
                       [&](Expressions e, ArrayRef<Value> elements) -> SmallVector<Value> {
                         Value p = elements[0];
                         Value lr = elements[tensors.size()];
                         Value d = scaledGradient(e, elements[1], in, elements.back());
                         d = addScaled(e, d, p, in.weightDecay);
                         if (momentum == 0)
                           return {e.sub(p, e.mul(lr, d))};
                         Value b = e.add(e.mul(elements[2], momentum), d);
                         Value direction = nesterov ? e.add(d, e.mul(b, momentum)) : b;
                         return {e.sub(p, e.mul(lr, direction)), b};
                       });
  }

private:
  double momentum;
  bool nesterov;
};

} // namespace

std::unique_ptr<Optimizer> dpc::createSgd(const OptionSpec &options) {
  return std::make_unique<Sgd>(options);
}

// Adagrad (Duchi, Hazan and Singer, JMLR 12, 2011) as torch.optim.Adagrad:
//   g += wd p;  s += g^2
//   p -= lr / (1 + (t - 1) lr_decay) * g / (sqrt(s) + eps)
// Here p is the parameter, g its gradient, s the slot, and t the number of the step, from 1.
// Options set the learning rate lr, the weight decay wd, lr_decay and eps.

#include "passes/Optimize/Optimizer.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

namespace {

class Adagrad final : public Optimizer {
public:
  explicit Adagrad(const OptionSpec &options)
      : epsilon(options["eps"]), rateDecay(options["lr-decay"]) {}

  ArrayRef<StringLiteral> getSlots() const override {
    static const StringLiteral slots[] = {"sum"};
    return slots;
  }

  SmallVector<Value> build(Expressions e, const UpdateInputs &in) const override {
    Type type = in.parameter.getType();
    Value rate = in.learningRate;
    if (rateDecay != 0)
      rate = e.div(rate, e.add(e.mul(e.add(in.step, -1.0), rateDecay), 1.0));
    SmallVector<Value> scalars = {e.convert(rate, typeOf(in.parameter).getElementType())};
    if (in.gradientScale)
      scalars.push_back(in.gradientScale);
    return buildUpdate(e, {in.parameter, in.gradient, in.slots[0]}, scalars, {type, type},
                       [&](Expressions e, ArrayRef<Value> elements) -> SmallVector<Value> {
                         Value p = elements[0], lr = elements[3];
                         Value g = scaledGradient(e, elements[1], in, elements.back());
                         g = addScaled(e, g, p, in.weightDecay);
                         Value s = e.add(elements[2], e.mul(g, g));
                         Value step = e.div(g, e.add(e.sqrt(s), epsilon));
                         return {e.sub(p, e.mul(lr, step)), s};
                       });
  }

private:
  double epsilon, rateDecay;
};

} // namespace

std::unique_ptr<Optimizer> dpc::createAdagrad(const OptionSpec &options) {
  return std::make_unique<Adagrad>(options);
}

// Adam (Kingma and Ba, arXiv 1412.6980) and AdamW (Loshchilov and Hutter, arXiv 1711.05101), as in
// torch.optim:
//   Adam:  g += wd p          AdamW: p *= 1 - lr wd
//   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
//   p -= lr / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + eps)
// Here p is the parameter, g its gradient, m and v are the slots, and t is the number of the step,
// from 1. Options set the learning rate lr, the weight decay wd, b1, b2 and eps.

#include "passes/Optimize/Optimizer.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

namespace {

class Adam final : public Optimizer {
public:
  explicit Adam(const OptionSpec &options)
      : beta1(options["beta1"]), beta2(options["beta2"]), epsilon(options["eps"]),
        decoupled(options.name == "adamw") {}

  ArrayRef<StringLiteral> getSlots() const override {
    static const StringLiteral slots[] = {"exp_avg", "exp_avg_sq"};
    return slots;
  }

  SmallVector<Value> build(Expressions e, const UpdateInputs &in) const override {
    Type type = in.parameter.getType();
    Type element = typeOf(in.parameter).getElementType();
    // Compute the bias corrections in f64, as torch.optim does on the host.
    Value one = e.splatLike(in.step, 1);
    auto correction = [&](double beta) {
      return e.sub(one, e.make<PowOp>(e.splatLike(in.step, beta), in.step));
    };
    Value stepSize = e.div(in.learningRate, correction(beta1));
    Value secondScale = e.sqrt(correction(beta2));
    SmallVector<Value> scalars = {e.convert(stepSize, element), e.convert(secondScale, element)};
    if (decoupled) {
      Value shrink = e.sub(one, e.mul(in.learningRate, in.weightDecay));
      scalars.push_back(e.convert(shrink, element));
    }
    if (in.gradientScale)
      scalars.push_back(in.gradientScale);
    return buildUpdate(e, {in.parameter, in.gradient, in.slots[0], in.slots[1]}, scalars,
                       {type, type, type},
                       [&](Expressions e, ArrayRef<Value> elements) -> SmallVector<Value> {
                         Value p = elements[0], step = elements[4], root = elements[5];
                         Value g = scaledGradient(e, elements[1], in, elements.back());
                         if (decoupled)
                           p = e.mul(p, elements[6]);
                         else
                           g = addScaled(e, g, p, in.weightDecay);
                         Value m = e.add(e.mul(elements[2], beta1), e.mul(g, 1 - beta1));
                         Value v = e.add(e.mul(elements[3], beta2), e.mul(e.mul(g, g), 1 - beta2));
                         Value denominator = e.add(e.div(e.sqrt(v), root), epsilon);
                         return {e.sub(p, e.mul(step, e.div(m, denominator))), m, v};
                       });
  }

private:
  double beta1, beta2, epsilon;
  bool decoupled;
};

} // namespace

std::unique_ptr<Optimizer> dpc::createAdam(const OptionSpec &options) {
  return std::make_unique<Adam>(options);
}

// LAMB (You et al., arXiv 1904.00962), with bias correction:
//   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
//   u = (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps) + wd p
//   p -= lr r u
// The trust ratio r is |p| / |u| over all elements of the parameter, or 1 if either norm is 0. Here
// p is the parameter, g its gradient, m and v are the slots, and t is the number of the step, from
// 1. Options set the learning rate lr, the weight decay wd, b1, b2 and eps.

#include "passes/Optimize/Optimizer.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

namespace {

class Lamb final : public Optimizer {
public:
  explicit Lamb(const OptionSpec &options)
      : beta1(options["beta1"]), beta2(options["beta2"]), epsilon(options["eps"]) {}

  ArrayRef<StringLiteral> getSlots() const override {
    static const StringLiteral slots[] = {"exp_avg", "exp_avg_sq"};
    return slots;
  }

  SmallVector<Value> build(Expressions e, const UpdateInputs &in) const override {
    Type type = in.parameter.getType();
    Type element = typeOf(in.parameter).getElementType();
    Value one = e.splatLike(in.step, 1);
    auto correction = [&](double beta) {
      return e.sub(one, e.make<PowOp>(e.splatLike(in.step, beta), in.step));
    };
    SmallVector<Value> scalars = {e.convert(correction(beta1), element),
                                  e.convert(e.sqrt(correction(beta2)), element)};
    if (in.gradientScale)
      scalars.push_back(in.gradientScale);
    SmallVector<Value> moments = buildUpdate(
        e, {in.parameter, in.gradient, in.slots[0], in.slots[1]}, scalars, {type, type, type},
        [&](Expressions e, ArrayRef<Value> elements) -> SmallVector<Value> {
          Value p = elements[0], first = elements[4], root = elements[5];
          Value g = scaledGradient(e, elements[1], in, elements.back());
          Value m = e.add(e.mul(elements[2], beta1), e.mul(g, 1 - beta1));
          Value v = e.add(e.mul(elements[3], beta2), e.mul(e.mul(g, g), 1 - beta2));
          Value u = e.div(e.div(m, first), e.add(e.div(e.sqrt(v), root), epsilon));
          return {addScaled(e, u, p, in.weightDecay), m, v};
        });
    Value direction = moments[0];
    Value ratio = trustRatio(e, in.parameter, direction);
    Value rate = e.mul(e.convert(in.learningRate, element), ratio);
    Value parameter =
        buildUpdate(e, {in.parameter, direction}, {rate}, {type},
                    [&](Expressions e, ArrayRef<Value> elements) -> SmallVector<Value> {
                      return {e.sub(elements[0], e.mul(elements[2], elements[1]))};
                    })[0];
    return {parameter, moments[1], moments[2]};
  }

private:
  /// Builds the trust ratio r = |parameter| / |direction| over all elements, or 1 if either norm is
  /// 0. It is a rank-0 value.
  static Value trustRatio(Expressions e, Value parameter, Value direction) {
    SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(parameter).getRank()));
    Value weights = e.sqrt(e.sum(e.mul(parameter, parameter), all));
    Value steps = e.sqrt(e.sum(e.mul(direction, direction), all));
    Value usable = e.make<AndOp>(e.compare(Comparison::gt, weights, 0.0),
                                 e.compare(Comparison::gt, steps, 0.0));
    return e.select(usable, e.div(weights, steps), e.splatLike(weights, 1));
  }

  double beta1, beta2, epsilon;
};

} // namespace

std::unique_ptr<Optimizer> dpc::createLamb(const OptionSpec &options) {
  return std::make_unique<Lamb>(options);
}

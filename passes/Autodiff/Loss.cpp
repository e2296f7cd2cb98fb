// Builds the losses that are not outputs of the graph, each as a sum divided by a count.

#include "passes/Autodiff/Loss.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Loss.h"
#include "passes/Autodiff/ClassAxis.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

Value dpc::sumAll(Expressions e, Value x) {
  return e.sum(x, llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank())));
}

Value dpc::rowIsValid(Expressions e, ArrayRef<int64_t> shape, Value validRows, int64_t dim) {
  auto type = RankedTensorType::get(shape, e.builder.getI64Type());
  Value limit = e.broadcastScalar(validRows, shape);
  return e.compare(Comparison::lt, e.make<IotaOp>(type, dim), limit);
}

namespace {

class CrossEntropy final : public LossFunction {
public:
  FailureOr<Labels> getLabels(Location loc, RankedTensorType output,
                              const Options &options) const override {
    Type element =
        options.labelType ? options.labelType : IntegerType::get(output.getContext(), 64);
    if (!isa<IntegerType>(element))
      return emitError(loc) << "cross-entropy needs integer labels, not " << element, failure();
    llvm::Expected<ClassAxis> classes =
        ClassAxis::choose(output.getShape(), options.labelShape, options.classAxis);
    if (!classes)
      return emitError(loc) << llvm::toString(classes.takeError()), failure();
    return Labels{RankedTensorType::get(classes->labels, element), classes->axis};
  }

  LossValue build(OpBuilder &builder, Location loc, Value output, Value label, int64_t axis,
                  Value validRows, const Options &options) const override {
    Expressions e{builder, loc};
    ArrayRef<int64_t> shape = typeOf(label).getShape();
    label = e.convert(label, builder.getI64Type());
    if (validRows && !shape.empty()) {
      Value ignored = e.splatLike(label, options.ignoreIndex);
      Value valid = rowIsValid(e, shape, validRows, options.sampleDim);
      label = e.select(valid, label, ignored);
    }
    auto entropy = e.make<CrossEntropyOp>(output, label, builder.getI64IntegerAttr(axis),
                                          builder.getI64IntegerAttr(options.ignoreIndex),
                                          builder.getF64FloatAttr(options.labelSmoothing));
    Type element = typeOf(output).getElementType();
    Value counts = e.compare(Comparison::ne, label, double(options.ignoreIndex));
    Value count = sumAll(e, e.convert(counts, element));
    Value loss = e.div(sumAll(e, entropy.getLosses()), count);
    return {loss, count, label, counts};
  }
};

/// A loss with one term per element, such as a squared difference: a function of an element of the
/// output and the same element of the labels. The loss is the mean of the terms.
class ElementwiseLoss : public LossFunction {
public:
  FailureOr<Labels> getLabels(Location loc, RankedTensorType output,
                              const Options &options) const override {
    if (options.labelShape && *options.labelShape != output.getShape())
      return emitError(loc) << "labels of type "
                            << RankedTensorType::get(*options.labelShape, output.getElementType())
                            << " do not fit an output of type " << output
                            << ": this loss needs equal shapes",
             failure();
    Type element = options.labelType ? options.labelType : output.getElementType();
    return Labels{RankedTensorType::get(output.getShape(), element)};
  }

  LossValue build(OpBuilder &builder, Location loc, Value output, Value label, int64_t,
                  Value validRows, const Options &options) const override {
    Expressions e{builder, loc};
    RankedTensorType type = typeOf(output);
    auto scalar = RankedTensorType::get({}, type.getElementType());
    label = e.convert(label, type.getElementType());
    Value terms = element(e, output, label);
    Value count = e.splat(scalar, type.getNumElements());
    Value valid;
    if (validRows && type.getRank() > 0) {
      valid = rowIsValid(e, type.getShape(), validRows, options.sampleDim);
      terms = e.select(valid, terms, e.splatLike(terms, 0));
      count = sumAll(e, e.convert(valid, type.getElementType()));
    }
    return {e.div(sumAll(e, terms), count), count, label, valid};
  }

protected:
  virtual Value element(Expressions e, Value x, Value y) const = 0;
};

class MeanSquared final : public ElementwiseLoss {
  Value element(Expressions e, Value x, Value y) const override {
    Value difference = e.sub(x, y);
    return e.mul(difference, difference);
  }
};

class MeanAbsolute final : public ElementwiseLoss {
  Value element(Expressions e, Value x, Value y) const override {
    return e.make<AbsOp>(e.sub(x, y));
  }
};

/// The term is -y ln s(x) - (1 - y) ln(1 - s(x)), where s is the logistic function. The equal
/// formula softplus(x) - x y computes it without overflow.
class BinaryCrossEntropy final : public ElementwiseLoss {
  Value element(Expressions e, Value x, Value y) const override {
    return e.sub(e.make<SoftplusOp>(x), e.mul(x, y));
  }
};

} // namespace

std::unique_ptr<LossFunction> LossFunction::create(StringRef name, std::string &known) {
  known = "cross-entropy, mse, l1, bce-with-logits, output:NAME";
  if (name == "cross-entropy")
    return std::make_unique<CrossEntropy>();
  if (name == "mse")
    return std::make_unique<MeanSquared>();
  if (name == "l1")
    return std::make_unique<MeanAbsolute>();
  if (name == "bce-with-logits")
    return std::make_unique<BinaryCrossEntropy>();
  return nullptr;
}

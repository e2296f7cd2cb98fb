// Implements InferIntRangeInterface for nn ops. The analysis assumes that an op
// without a model may compute any integer.

#include "dialects/NN/Ranges/Ranges.h"

#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Indexing.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Reduction.h"
#include "dialects/NN/IR/Shape.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Ranges = ArrayRef<ConstantIntRanges>;

static unsigned widthOf(Value value) {
  return ConstantIntRanges::getStorageBitwidth(getElementTypeOrSelf(value));
}

/// The range [low, high] in the element type of `value`. `low` and `high` must
/// fit the type.
static ConstantIntRanges between(Value value, int64_t low, int64_t high) {
  bool isSigned = !isOrderedUnsigned(value.getType());
  unsigned width = widthOf(value);
  return ConstantIntRanges::range(APInt(width, low, isSigned), APInt(width, high, isSigned),
                                  isSigned);
}

/// The range of indices into a dimension of extent `extent`, in the element type
/// of `value`.
static ConstantIntRanges indexOf(Value value, int64_t extent) {
  unsigned width = widthOf(value);
  // The dimension is empty, or the type is no integer type or too narrow for the
  // indices.
  if (extent < 1 || width < 8 || (width < 64 && (extent - 1) >> (width - 1)))
    return anyInteger(value);
  return between(value, 0, extent - 1);
}

namespace {

/// Base class of the models. A model has a function `infer`, which computes the
/// range of an integer result.
template <typename Model, typename Op>
struct RangeModel : InferIntRangeInterface::ExternalModel<Model, Op> {
  void inferResultRanges(Operation *op, Ranges operands, SetIntRangeFn set) const {
    for (OpResult result : op->getResults())
      set(result, static_cast<const Model *>(this)->infer(cast<Op>(op), operands, result));
  }
  void inferResultRangesFromOptional(Operation *op, ArrayRef<IntegerValueRange> operands,
                                     SetIntLatticeFn set) const {
    intrange::detail::defaultInferResultRanges(cast<InferIntRangeInterface>(op), operands, set);
  }
};

/// Models an op whose result consists of elements of its first `dataOperands`
/// operands.
template <typename Op, unsigned dataOperands = ~0u>
struct MoveModel : RangeModel<MoveModel<Op, dataOperands>, Op> {
  ConstantIntRanges infer(Op, Ranges operands, Value) const {
    ConstantIntRanges range = operands[0];
    for (const ConstantIntRanges &other : operands.take_front(dataOperands).drop_front())
      range = range.rangeUnion(other);
    return range;
  }
};

using InferFn = ConstantIntRanges (*)(Ranges);

/// Models an elementwise op by two functions: one for signed and one for unsigned
/// integers.
template <typename Op, InferFn ofSigned, InferFn ofUnsigned = ofSigned>
struct ArithmeticModel : RangeModel<ArithmeticModel<Op, ofSigned, ofUnsigned>, Op> {
  ConstantIntRanges infer(Op, Ranges operands, Value result) const {
    return (isOrderedUnsigned(result.getType()) ? ofUnsigned : ofSigned)(operands);
  }
};

ConstantIntRanges inferSum(Ranges operands) { return intrange::inferAdd(operands); }
ConstantIntRanges inferDifference(Ranges operands) { return intrange::inferSub(operands); }
ConstantIntRanges inferProduct(Ranges operands) { return intrange::inferMul(operands); }
ConstantIntRanges inferClampS(Ranges operands) {
  return intrange::inferMinS({intrange::inferMaxS({operands[0], operands[1]}), operands[2]});
}
ConstantIntRanges inferClampU(Ranges operands) {
  return intrange::inferMinU({intrange::inferMaxU({operands[0], operands[1]}), operands[2]});
}

/// The range of a remainder that has the sign of the divisor. It is only computed
/// for divisors that are known to be positive.
ConstantIntRanges inferModS(Ranges operands) {
  APInt least = operands[1].smin(), most = operands[1].smax();
  if (!least.isStrictlyPositive())
    return ConstantIntRanges::maxRange(least.getBitWidth());
  if (operands[0].smin().isNonNegative() && operands[0].smax().slt(least))
    return operands[0];
  return ConstantIntRanges::fromSigned(APInt::getZero(least.getBitWidth()), most - 1);
}

struct ConstantModel : RangeModel<ConstantModel, ConstantOp> {
  ConstantIntRanges infer(ConstantOp op, Ranges, Value result) const {
    auto held = HostTensor::fromAttr(op.getValue());
    if (!widthOf(result) || !held || held->ints.empty())
      return anyInteger(result);
    auto [low, high] =
        isOrderedUnsigned(result.getType())
            ? minMax(ArrayRef<uint64_t>(reinterpret_cast<const uint64_t *>(held->ints.data()),
                                        held->ints.size()))
            : minMax<int64_t>(held->ints);
    return between(result, low, high);
  }

private:
  template <typename T> static std::pair<int64_t, int64_t> minMax(ArrayRef<T> elements) {
    auto [low, high] = std::minmax_element(elements.begin(), elements.end());
    return {int64_t(*low), int64_t(*high)};
  }
};

struct IotaModel : RangeModel<IotaModel, IotaOp> {
  ConstantIntRanges infer(IotaOp op, Ranges, Value result) const {
    return indexOf(result, typeOf(result).getDimSize(op.getDimension()));
  }
};

struct ArgReduceModel : RangeModel<ArgReduceModel, ArgReduceOp> {
  ConstantIntRanges infer(ArgReduceOp op, Ranges, Value result) const {
    return indexOf(result, typeOf(op.getInput()).getDimSize(op.getDimension()));
  }
};

struct TopKModel : RangeModel<TopKModel, TopKOp> {
  ConstantIntRanges infer(TopKOp op, Ranges operands, Value result) const {
    if (result == op.getValues())
      return operands[0];
    return indexOf(result, typeOf(op.getInput()).getDimSize(op.getDimension()));
  }
};

struct ReduceModel : RangeModel<ReduceModel, ReduceOp> {
  ConstantIntRanges infer(ReduceOp op, Ranges operands, Value result) const {
    int64_t count = 1;
    for (int64_t d : op.getDimensions())
      count *= typeOf(op.getInput()).getDimSize(d);
    if (count == 0)
      return anyInteger(result);
    switch (op.getKind()) {
    case ReduceKind::max:
    case ReduceKind::min:
      return operands[0];
    case ReduceKind::sum: {
      // The range of indices below count + 1 ends with `count`, unless `count`
      // is too large for the element type.
      ConstantIntRanges counts = indexOf(result, count + 1);
      if (counts.smax() != count)
        return anyInteger(result);
      return intrange::inferMul({operands[0], ConstantIntRanges::constant(counts.smax())});
    }
    case ReduceKind::prod:
      return anyInteger(result);
    }
    return anyInteger(result);
  }
};

struct SelectModel : RangeModel<SelectModel, SelectOp> {
  ConstantIntRanges infer(SelectOp, Ranges operands, Value) const {
    if (std::optional<APInt> condition = operands[0].getConstantValue())
      return operands[condition->isOne() ? 1 : 2];
    return operands[1].rangeUnion(operands[2]);
  }
};

struct CompareModel : RangeModel<CompareModel, CompareOp> {
  ConstantIntRanges infer(CompareOp op, Ranges operands, Value result) const {
    std::optional<bool> truth;
    if (widthOf(op.getLhs()))
      truth = intrange::evaluatePred(
          predicate(op.getComparison(), isOrderedUnsigned(op.getLhs().getType())), operands[0],
          operands[1]);
    return truth ? ConstantIntRanges::constant(APInt(1, *truth)) : anyInteger(result);
  }

private:
  static intrange::CmpPredicate predicate(Comparison comparison, bool isUnsigned) {
    using intrange::CmpPredicate;
    switch (comparison) {
    case Comparison::eq:
      return CmpPredicate::eq;
    case Comparison::ne:
      return CmpPredicate::ne;
    case Comparison::lt:
      return isUnsigned ? CmpPredicate::ult : CmpPredicate::slt;
    case Comparison::le:
      return isUnsigned ? CmpPredicate::ule : CmpPredicate::sle;
    case Comparison::gt:
      return isUnsigned ? CmpPredicate::ugt : CmpPredicate::sgt;
    case Comparison::ge:
      return isUnsigned ? CmpPredicate::uge : CmpPredicate::sge;
    }
    llvm_unreachable("a comparison");
  }
};

struct ConvertModel : RangeModel<ConvertModel, ConvertOp> {
  ConstantIntRanges infer(ConvertOp op, Ranges operands, Value result) const {
    unsigned from = widthOf(op.getInput()), to = widthOf(result);
    if (!from || to <= 1) // a float has no range; a conversion to i1 may give both values
      return anyInteger(result);
    if (from > to)
      return intrange::truncRange(operands[0], to);
    if (from == to)
      return operands[0];
    return isOrderedUnsigned(op.getInput().getType()) ? intrange::extUIRange(operands[0], to)
                                                      : intrange::extSIRange(operands[0], to);
  }
};

} // namespace

void dpc::registerRangeModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    ConstantOp::attachInterface<ConstantModel>(*context);
    IotaOp::attachInterface<IotaModel>(*context);

    ReshapeOp::attachInterface<MoveModel<ReshapeOp>>(*context);
    TransposeOp::attachInterface<MoveModel<TransposeOp>>(*context);
    BroadcastOp::attachInterface<MoveModel<BroadcastOp>>(*context);
    SliceOp::attachInterface<MoveModel<SliceOp>>(*context);
    PadOp::attachInterface<MoveModel<PadOp>>(*context);
    ConcatOp::attachInterface<MoveModel<ConcatOp>>(*context);
    ReverseOp::attachInterface<MoveModel<ReverseOp>>(*context);
    GatherOp::attachInterface<MoveModel<GatherOp, 1>>(*context);
    GatherElementsOp::attachInterface<MoveModel<GatherElementsOp, 1>>(*context);
    GatherNDOp::attachInterface<MoveModel<GatherNDOp, 1>>(*context);

    AddOp::attachInterface<ArithmeticModel<AddOp, inferSum>>(*context);
    SubOp::attachInterface<ArithmeticModel<SubOp, inferDifference>>(*context);
    MulOp::attachInterface<ArithmeticModel<MulOp, inferProduct>>(*context);
    DivOp::attachInterface<ArithmeticModel<DivOp, intrange::inferDivS, intrange::inferDivU>>(
        *context);
    RemOp::attachInterface<ArithmeticModel<RemOp, intrange::inferRemS, intrange::inferRemU>>(
        *context);
    ModOp::attachInterface<ArithmeticModel<ModOp, inferModS, intrange::inferRemU>>(*context);
    MaxOp::attachInterface<ArithmeticModel<MaxOp, intrange::inferMaxS, intrange::inferMaxU>>(
        *context);
    MinOp::attachInterface<ArithmeticModel<MinOp, intrange::inferMinS, intrange::inferMinU>>(
        *context);
    ClampOp::attachInterface<ArithmeticModel<ClampOp, inferClampS, inferClampU>>(*context);
    SelectOp::attachInterface<SelectModel>(*context);
    CompareOp::attachInterface<CompareModel>(*context);
    ConvertOp::attachInterface<ConvertModel>(*context);

    ReduceOp::attachInterface<ReduceModel>(*context);
    ArgReduceOp::attachInterface<ArgReduceModel>(*context);
    TopKOp::attachInterface<TopKModel>(*context);
  });
}

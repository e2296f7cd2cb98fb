// Ops that index, and those that only move the integers they are given.

#include "dialects/NN/Bounds/Bounds.h"

#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Indexing.h"
#include "dialects/NN/IR/Loss.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Shape.h"

#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#include "dialects/NN/Bounds/BoundsOpInterface.cpp.inc"

using Results = ArrayRef<std::optional<IntegerBounds>>;
using Need = llvm::function_ref<void(Value, const IntegerBounds &)>;

/// An index of a dimension of `extent`.
static IntegerBounds indexOf(int64_t extent) {
  return {0, extent - 1, std::nullopt};
}

/// The one integer that every element of `value` is.
static std::optional<int64_t> splatOf(Value value) {
  DenseElementsAttr elements;
  if (!isa<IntegerType>(typeOf(value).getElementType()) ||
      !matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APInt>().getSExtValue();
}

/// The largest element of an integer constant, perhaps repeated.
static std::optional<int64_t> largestOf(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getInput();
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || elements.empty())
    return std::nullopt;
  int64_t largest = std::numeric_limits<int64_t>::min();
  for (const APInt &element : elements)
    largest = std::max(largest, element.getSExtValue());
  return largest;
}

namespace {

template <typename Model, typename Op>
using ModelOf = BoundsOpInterface::ExternalModel<Model, Op>;

/// What is needed of the one result is needed of each operand: for ops that
/// only move elements. `dataOperands` counts the operands that hold them.
template <typename Op, unsigned dataOperands = ~0u>
struct MoveModel : ModelOf<MoveModel<Op, dataOperands>, Op> {
  void requireBounds(Operation *op, Results results, Need need) const {
    if (results[0])
      for (Value operand : op->getOperands().take_front(
               std::min(dataOperands, op->getNumOperands())))
        need(operand, *results[0]);
  }
};

struct ConvertModel : ModelOf<ConvertModel, ConvertOp> {
  void requireBounds(Operation *op, Results results, Need need) const {
    auto convert = cast<ConvertOp>(op);
    auto from =
        dyn_cast<IntegerType>(typeOf(convert.getInput()).getElementType());
    auto to = dyn_cast<IntegerType>(typeOf(convert).getElementType());
    if (results[0] && from && to && from.getWidth() <= to.getWidth())
      need(convert.getInput(), *results[0]);
  }
};

/// Two forms of select are understood, in which a value chooses for itself:
/// negative indices that count from the end, x < 0 ? x + n : x (n is the
/// largest where it differs between the components of a tuple), and a value
/// that is replaced, x == c ? d : x.
struct SelectModel : ModelOf<SelectModel, SelectOp> {
  void requireBounds(Operation *op, Results results, Need need) const {
    auto select = cast<SelectOp>(op);
    auto compare = select.getCondition().getDefiningOp<CompareOp>();
    if (!results[0] || !compare)
      return;
    std::optional<int64_t> with = splatOf(compare.getRhs());
    Value x = compare.getLhs();
    if (!with)
      return;
    IntegerBounds bounds = *results[0];
    if (compare.getComparison() == Comparison::lt && *with == 0 &&
        select.getOnFalse() == x) {
      auto sum = select.getOnTrue().getDefiningOp<AddOp>();
      std::optional<int64_t> added =
          sum ? largestOf(sum.getRhs()) : std::nullopt;
      if (added && sum.getLhs() == x) {
        bounds.low -= *added;
        need(x, bounds);
      }
      return;
    }
    Value kept = compare.getComparison() == Comparison::eq ? select.getOnFalse()
                 : compare.getComparison() == Comparison::ne
                     ? select.getOnTrue()
                     : Value();
    if (kept == x) {
      bounds.ignored = *with;
      need(x, bounds);
    }
  }
};

struct GatherModel : ModelOf<GatherModel, GatherOp> {
  void requireBounds(Operation *op, Results results, Need need) const {
    auto gather = cast<GatherOp>(op);
    need(gather.getIndices(),
         indexOf(typeOf(gather.getTable()).getDimSize(gather.getDimension())));
    if (results[0])
      need(gather.getTable(), *results[0]);
  }
};

struct ScatterAddModel : ModelOf<ScatterAddModel, ScatterAddOp> {
  void requireBounds(Operation *op, Results, Need need) const {
    auto scatter = cast<ScatterAddOp>(op);
    need(scatter.getIndices(),
         indexOf(typeOf(scatter).getDimSize(scatter.getDimension())));
  }
};

template <typename Op> struct ElementsModel : ModelOf<ElementsModel<Op>, Op> {
  void requireBounds(Operation *op, Results results, Need need) const {
    auto indexed = cast<Op>(op);
    need(
        indexed.getIndices(),
        indexOf(typeOf(indexed.getInput()).getDimSize(indexed.getDimension())));
    if (results[0])
      need(indexed.getInput(), *results[0]);
  }
};

/// The components of a tuple share one bound, that of the widest dimension.
template <typename Op> struct TuplesModel : ModelOf<TuplesModel<Op>, Op> {
  void requireBounds(Operation *op, Results results, Need need) const {
    auto indexed = cast<Op>(op);
    ArrayRef<int64_t> extents = typeOf(indexed.getInput()).getShape();
    int64_t width = typeOf(indexed.getIndices()).getShape().back();
    ArrayRef<int64_t> own = extents.slice(indexed.getBatchDims(), width);
    if (!own.empty())
      need(indexed.getIndices(), indexOf(*llvm::max_element(own)));
    if (results[0])
      need(indexed.getInput(), *results[0]);
  }
};

struct CrossEntropyModel : ModelOf<CrossEntropyModel, CrossEntropyOp> {
  void requireBounds(Operation *op, Results, Need need) const {
    auto loss = cast<CrossEntropyOp>(op);
    IntegerBounds bounds =
        indexOf(typeOf(loss.getLogits()).getDimSize(loss.getDimension()));
    bounds.ignored = loss.getIgnoreIndex();
    need(loss.getLabels(), bounds);
  }
};

} // namespace

void dpc::registerBoundsModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    ReshapeOp::attachInterface<MoveModel<ReshapeOp>>(*context);
    TransposeOp::attachInterface<MoveModel<TransposeOp>>(*context);
    BroadcastOp::attachInterface<MoveModel<BroadcastOp>>(*context);
    SliceOp::attachInterface<MoveModel<SliceOp>>(*context);
    PadOp::attachInterface<MoveModel<PadOp, 1>>(*context);
    ConcatOp::attachInterface<MoveModel<ConcatOp>>(*context);
    ReverseOp::attachInterface<MoveModel<ReverseOp>>(*context);
    ConvertOp::attachInterface<ConvertModel>(*context);
    SelectOp::attachInterface<SelectModel>(*context);
    GatherOp::attachInterface<GatherModel>(*context);
    ScatterAddOp::attachInterface<ScatterAddModel>(*context);
    GatherElementsOp::attachInterface<ElementsModel<GatherElementsOp>>(
        *context);
    ScatterElementsOp::attachInterface<ElementsModel<ScatterElementsOp>>(
        *context);
    GatherNDOp::attachInterface<TuplesModel<GatherNDOp>>(*context);
    ScatterNDOp::attachInterface<TuplesModel<ScatterNDOp>>(*context);
    CrossEntropyOp::attachInterface<CrossEntropyModel>(*context);
  });
}

// Implements BoundsOpInterface for ops that index, and for ops that move or shift
// the integers that become indices.

#include "dialects/NN/Bounds/Bounds.h"

#include "dialects/Interfaces/ConstantContext.h"
#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Indexing.h"
#include "dialects/NN/IR/Loss.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Shape.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#include "dialects/NN/Bounds/BoundsOpInterface.cpp.inc"

using Results = ArrayRef<ElementBounds>;
using Need = llvm::function_ref<void(Value, const ElementBounds &)>;

/// The bounds of an index into a dimension of extent `extent`: [0, extent - 1].
static IntegerBounds indexOf(int64_t extent) { return {0, extent - 1, std::nullopt}; }

/// If `value` is an integer constant whose elements are all equal, this element.
static std::optional<int64_t> splatOf(Value value) {
  DenseElementsAttr elements;
  if (!isa<IntegerType>(typeOf(value).getElementType()) ||
      !matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APInt>().getSExtValue();
}

/// The elements of `value` if it is an integer constant or a broadcast of a
/// constant. A single number if all elements are equal. Empty for any other value.
static std::vector<int64_t> constantElements(Value value) {
  if (std::optional<int64_t> splat = splatOf(value))
    return {*splat};
  if (!isa<IntegerType>(typeOf(value).getElementType()))
    return {};
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    std::optional<HostTensor> host = HostTensor::fromAttr(constant.getValue());
    return host ? host->ints : std::vector<int64_t>();
  }
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  std::vector<int64_t> elements = constantElements(broadcast.getInput());
  if (elements.size() < 2)
    return elements;
  HostTensor from(typeOf(broadcast.getInput())), to(typeOf(value));
  from.ints = std::move(elements);
  ConstantContext context;
  if (failed(broadcast.interpret(context, {&from}, to)))
    return {};
  return to.ints;
}

/// The largest number of elements, counted over the result and its data operands, that
/// traceElements traces one by one. If there are more, every element of the operands must
/// satisfy the bounds of all elements of the result.
constexpr int64_t kMaxTracedElements = int64_t(1) << 24;

/// Handles an op that moves elements of its first `dataOperands` operands to its
/// result. Each of these elements must satisfy the bounds of the result at its new
/// position. To find the positions, the function numbers the elements, and
/// interprets the op on these numbers. `others` are the values of the other
/// operands.
static void traceElements(Operation *op, unsigned dataOperands, ArrayRef<HostTensor> others,
                          const ElementBounds &result, Need need) {
  if (result.allowsAll())
    return;
  ValueRange data = op->getOperands().take_front(dataOperands);
  int64_t total = typeOf(op->getResult(0)).getNumElements();
  for (Value operand : data)
    total += typeOf(operand).getNumElements();
  if (total > kMaxTracedElements) {
    for (Value operand : data)
      need(operand, ElementBounds(result.everywhere()));
    return;
  }
  // Number the elements of all operands consecutively, from 1. Then 0 marks
  // elements of the result that come from no operand.
  std::vector<HostTensor> numbers;
  SmallVector<int64_t> ends;
  std::vector<ElementBounds> asked;
  int64_t next = 1;
  for (Value operand : data) {
    HostTensor &host = numbers.emplace_back(typeOf(operand));
    for (int64_t &number : host.ints)
      number = next++;
    ends.push_back(next);
    asked.push_back(ElementBounds::ofElements(host.ints.size()));
  }
  llvm::append_range(numbers, others);
  SmallVector<const HostTensor *> operands;
  for (const HostTensor &host : numbers)
    operands.push_back(&host);
  HostTensor moved(typeOf(op->getResult(0)));
  ConstantContext context;
  if (failed(cast<InterpretableOpInterface>(op).interpret(context, operands, moved)))
    return;
  for (auto [place, number] : llvm::enumerate(moved.ints))
    if (number) {
      size_t operand = llvm::upper_bound(ends, number) - ends.begin();
      int64_t begin = operand ? ends[operand - 1] : 1;
      asked[operand].narrow(number - begin, result[place]);
    }
  for (auto [operand, bounds] : llvm::zip_equal(data, asked))
    need(operand, bounds);
}

namespace {

template <typename Model, typename Op> using ModelOf = BoundsOpInterface::ExternalModel<Model, Op>;

/// Models ops that move every element of their operands to a position of the
/// result.
template <typename Op> struct MoveModel : ModelOf<MoveModel<Op>, Op> {
  void requireBounds(Operation *op, Results results, Need need) const {
    if (!results[0].isUniform())
      return traceElements(op, op->getNumOperands(), {}, results[0], need);
    for (Value operand : op->getOperands())
      need(operand, results[0]);
  }
};

struct SliceModel : ModelOf<SliceModel, SliceOp> {
  void requireBounds(Operation *op, Results results, Need need) const {
    traceElements(op, 1, {}, results[0], need);
  }
};

struct PadModel : ModelOf<PadModel, PadOp> {
  void requireBounds(Operation *op, Results results, Need need) const {
    auto pad = cast<PadOp>(op);
    traceElements(op, 1, HostTensor(typeOf(pad.getValue())), results[0], need);
    need(pad.getValue(), results[0].everywhere());
  }
};

struct ConvertModel : ModelOf<ConvertModel, ConvertOp> {
  void requireBounds(Operation *op, Results results, Need need) const {
    auto convert = cast<ConvertOp>(op);
    auto from = dyn_cast<IntegerType>(typeOf(convert.getInput()).getElementType());
    auto to = dyn_cast<IntegerType>(typeOf(convert).getElementType());
    if (from && to && from.getWidth() <= to.getWidth())
      need(convert.getInput(), results[0]);
  }
};

/// Models x + c with a constant c, e.g. for an index into one of several tables
/// that a concat joined.
struct AddModel : ModelOf<AddModel, AddOp> {
  void requireBounds(Operation *op, Results results, Need need) const {
    auto add = cast<AddOp>(op);
    for (auto [x, c] :
         {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
      std::vector<int64_t> added = constantElements(c);
      if (!added.empty())
        return need(x, results[0].before(added));
    }
  }
};

/// Models two forms of a select that chooses between functions of x by comparing x.
/// In x < 0 ? x + n : x, negative indices count from the end. In x == c ? d : x,
/// the value c is replaced by d, so x may be c.
struct SelectModel : ModelOf<SelectModel, SelectOp> {
  void requireBounds(Operation *op, Results results, Need need) const {
    auto select = cast<SelectOp>(op);
    auto compare = select.getCondition().getDefiningOp<CompareOp>();
    if (!compare)
      return;
    std::optional<int64_t> with = splatOf(compare.getRhs());
    Value x = compare.getLhs();
    if (!with)
      return;
    if (compare.getComparison() == Comparison::lt && *with == 0 && select.getOnFalse() == x) {
      auto sum = select.getOnTrue().getDefiningOp<AddOp>();
      if (sum && sum.getLhs() == x)
        if (auto added = constantElements(sum.getRhs()); !added.empty())
          need(x, results[0].extendedBelow(added));
      return;
    }
    Value kept = compare.getComparison() == Comparison::eq   ? select.getOnFalse()
                 : compare.getComparison() == Comparison::ne ? select.getOnTrue()
                                                             : Value();
    if (kept == x)
      need(x, results[0].ignoring(*with));
  }
};

struct GatherModel : ModelOf<GatherModel, GatherOp> {
  void requireBounds(Operation *op, Results results, Need need) const {
    auto gather = cast<GatherOp>(op);
    const int64_t extent = typeOf(gather.getTable()).getDimSize(gather.getDimension());
    need(gather.getIndices(), ElementBounds(indexOf(extent)));
    if (results[0].allowsAll())
      return;
    std::vector<int64_t> indices = constantElements(gather.getIndices());
    HostTensor known(typeOf(gather.getIndices()));
    if (indices.size() == 1)
      indices.assign(known.ints.size(), indices[0]);
    if (indices.empty() ||
        llvm::any_of(indices, [&](int64_t index) { return index < 0 || index >= extent; }))
      return need(gather.getTable(), results[0].everywhere());
    known.ints = std::move(indices);
    traceElements(op, 1, known, results[0], need);
  }
};

struct ScatterAddModel : ModelOf<ScatterAddModel, ScatterAddOp> {
  void requireBounds(Operation *op, Results, Need need) const {
    auto scatter = cast<ScatterAddOp>(op);
    need(scatter.getIndices(),
         ElementBounds(indexOf(typeOf(scatter).getDimSize(scatter.getDimension()))));
  }
};

template <typename Op> struct ElementsModel : ModelOf<ElementsModel<Op>, Op> {
  void requireBounds(Operation *op, Results results, Need need) const {
    auto indexed = cast<Op>(op);
    need(indexed.getIndices(),
         ElementBounds(indexOf(typeOf(indexed.getInput()).getDimSize(indexed.getDimension()))));
    need(indexed.getInput(), results[0].everywhere());
  }
};

/// Models ops whose indices are tuples. Component i of a tuple indexes dimension
/// batchDims + i of the input.
template <typename Op> struct TuplesModel : ModelOf<TuplesModel<Op>, Op> {
  void requireBounds(Operation *op, Results results, Need need) const {
    auto indexed = cast<Op>(op);
    RankedTensorType tuples = typeOf(indexed.getIndices());
    const int64_t width = tuples.getShape().back();
    ArrayRef<int64_t> extents =
        typeOf(indexed.getInput()).getShape().slice(indexed.getBatchDims(), width);
    if (width == 1) {
      need(indexed.getIndices(), ElementBounds(indexOf(extents[0])));
    } else if (width > 1) {
      const int64_t count = tuples.getNumElements();
      ElementBounds bounds = ElementBounds::ofElements(count);
      for (int64_t i = 0; i < count; ++i)
        bounds.narrow(i, indexOf(extents[i % width]));
      need(indexed.getIndices(), bounds);
    }
    need(indexed.getInput(), results[0].everywhere());
  }
};

struct CrossEntropyModel : ModelOf<CrossEntropyModel, CrossEntropyOp> {
  void requireBounds(Operation *op, Results, Need need) const {
    auto loss = cast<CrossEntropyOp>(op);
    IntegerBounds bounds = indexOf(typeOf(loss.getLogits()).getDimSize(loss.getDimension()));
    bounds.ignored = loss.getIgnoreIndex();
    need(loss.getLabels(), ElementBounds(bounds));
  }
};

} // namespace

void dpc::registerBoundsModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    ReshapeOp::attachInterface<MoveModel<ReshapeOp>>(*context);
    TransposeOp::attachInterface<MoveModel<TransposeOp>>(*context);
    BroadcastOp::attachInterface<MoveModel<BroadcastOp>>(*context);
    ConcatOp::attachInterface<MoveModel<ConcatOp>>(*context);
    ReverseOp::attachInterface<MoveModel<ReverseOp>>(*context);
    SliceOp::attachInterface<SliceModel>(*context);
    PadOp::attachInterface<PadModel>(*context);
    ConvertOp::attachInterface<ConvertModel>(*context);
    AddOp::attachInterface<AddModel>(*context);
    SelectOp::attachInterface<SelectModel>(*context);
    GatherOp::attachInterface<GatherModel>(*context);
    ScatterAddOp::attachInterface<ScatterAddModel>(*context);
    GatherElementsOp::attachInterface<ElementsModel<GatherElementsOp>>(*context);
    ScatterElementsOp::attachInterface<ElementsModel<ScatterElementsOp>>(*context);
    GatherNDOp::attachInterface<TuplesModel<GatherNDOp>>(*context);
    ScatterNDOp::attachInterface<TuplesModel<ScatterNDOp>>(*context);
    CrossEntropyOp::attachInterface<CrossEntropyModel>(*context);
  });
}

// While a file is imported, folds ops whose operands are constants. Emits the constants of
// initializers, and those that converters of ONNX nodes need.

#include "frontends/onnx/Import/Constants.h"

#include "dialects/Interfaces/ConstantContext.h"
#include "dialects/NN/IR/Expressions.h"
#include "frontends/onnx/Import/Conversion.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace dpc::onnx {
namespace {

/// Whether `value` is a constant or a broadcast of a constant: the forms that
/// emitConstant makes.
bool isConstantLike(Value value) {
  Operation *op = value.getDefiningOp();
  while (auto broadcast = dyn_cast_or_null<nn::BroadcastOp>(op))
    op = broadcast.getInput().getDefiningOp();
  return isa_and_nonnull<nn::ConstantOp>(op);
}

/// Whether `op` computes the same numbers in every float type. Each of these is sufficient: its
/// result is an integer; it counts (nn.iota); it converts integers; or it only moves its operands,
/// selects from them, computes or changes their signs, or rounds them to integers.
bool isExact(Operation *op) {
  if (isa<IntegerType>(nn::typeOf(op->getResult(0)).getElementType()))
    return true;
  if (auto convert = dyn_cast<nn::ConvertOp>(op))
    return isa<IntegerType>(nn::typeOf(convert.getInput()).getElementType());
  return isa<nn::ReshapeOp, nn::TransposeOp, nn::SliceOp, nn::PadOp, nn::ConcatOp, nn::ReverseOp,
             nn::SelectOp, nn::NegOp, nn::AbsOp, nn::IotaOp, nn::MaxOp, nn::MinOp, nn::ClampOp,
             nn::FloorOp, nn::CeilOp, nn::RoundOp, nn::SignOp, nn::GatherOp>(op);
}

/// Whether `op` converts a few floats, computed from constants alone, to integers.
/// Exporters leave such ops in the graph: e.g. pow(49, 0.5) gives the side of a square of
/// 49 positions. Shapes are computed from these integers, so the importer must know them.
bool isShapeArithmetic(Operation *op) {
  constexpr int64_t kMostElements = 64;
  constexpr size_t kMostOps = 64;
  auto convert = dyn_cast<nn::ConvertOp>(op);
  if (!convert || !isa<IntegerType>(nn::typeOf(convert.getResult()).getElementType()) ||
      nn::typeOf(convert.getResult()).getNumElements() > kMostElements)
    return false;
  llvm::SmallSetVector<Operation *, 8> seen;
  seen.insert(op);
  for (size_t i = 0; i < seen.size(); ++i) {
    for (Value operand : seen[i]->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (!maker || nn::typeOf(operand).getNumElements() > kMostElements)
        return false;
      seen.insert(maker);
    }
    if (seen.size() > kMostOps)
      return false;
  }
  return true;
}

/// Whether every element is an integer that f32 represents exactly.
bool isSmallIntegers(const HostTensor &tensor) {
  return llvm::all_of(tensor.floats, [](double value) {
    return value == std::rint(value) && std::abs(value) <= double(1 << 24);
  });
}

/// Whether `op` is float arithmetic whose operands and results are small integers, such
/// as counting positions. Such arithmetic has no rounding error.
bool isExactArithmetic(Operation *op, const HostTensor &result) {
  return isa<nn::AddOp, nn::SubOp, nn::MulOp, nn::DivOp, nn::CumSumOp>(op) && result.isFloat() &&
         cast<FloatType>(result.getType().getElementType()).getWidth() >= 32 &&
         isSmallIntegers(result) && llvm::all_of(op->getOperands(), [](Value operand) {
           std::optional<HostTensor> known = evaluate(operand);
           return known && isSmallIntegers(*known);
         });
}

/// Divides `values` into contiguous blocks: one for each combination of indices of `dimension` and
/// of the dimensions before it. Calls `visit` for each block. Stops at the first block for which
/// `visit` gives false, and returns false then. `visit` gets the index of `dimension`, that index's
/// block and the block of index 0.
template <typename Element, typename Visit>
bool forEachBlock(ArrayRef<Element> values, ArrayRef<int64_t> shape, int64_t dimension,
                  Visit visit) {
  int64_t inner = rowMajorStrides(shape)[dimension], extent = shape[dimension];
  for (size_t first = 0; first < values.size(); first += inner * extent)
    for (int64_t index = 0; index < extent; ++index)
      if (!visit(index, values.slice(first + index * inner, inner), values.slice(first, inner)))
        return false;
  return true;
}

template <typename Element>
bool isConstantAlong(ArrayRef<Element> values, ArrayRef<int64_t> shape, int64_t dimension) {
  return forEachBlock(values, shape, dimension, [](int64_t, auto block, auto first) {
    // Bits are compared: NaN equals NaN, and +0 differs from -0.
    return std::memcmp(block.data(), first.data(), block.size() * sizeof(Element)) == 0;
  });
}

/// Whether the elements are the same at every index of `dimension`.
bool isConstantAlong(const HostTensor &tensor, int64_t dimension) {
  return tensor.isFloat() ? isConstantAlong(ArrayRef(tensor.floats), tensor.getShape(), dimension)
                          : isConstantAlong(ArrayRef(tensor.ints), tensor.getShape(), dimension);
}

/// Slice 0 of `tensor` along `dimension`, without that dimension.
HostTensor firstAlong(const HostTensor &tensor, int64_t dimension) {
  SmallVector<int64_t> rest(tensor.getShape());
  rest.erase(rest.begin() + dimension);
  HostTensor first(nn::withShape(tensor.getType(), rest));
  auto copyFirst = [&](auto from, auto to) {
    forEachBlock(from, tensor.getShape(), dimension, [&](int64_t index, auto block, auto) {
      if (index == 0)
        to = llvm::copy(block, to);
      return true;
    });
  };
  if (tensor.isFloat())
    copyFirst(ArrayRef(tensor.floats), first.floats.begin());
  else
    copyFirst(ArrayRef(tensor.ints), first.ints.begin());
  return first;
}

/// `name` as a key that MLIR's parser reads back: a letter or `_`, then letters,
/// digits, `_`, `.` and `$`. Two names may give one key; the context then makes the
/// keys distinct.
std::string resourceKey(StringRef name) {
  std::string key = name.str();
  for (char &c : key)
    if (!llvm::isAlnum(c) && c != '_' && c != '.' && c != '$')
      c = '_';
  return llvm::isAlpha(key[0]) || key[0] == '_' ? key : "_" + key;
}

} // namespace

std::optional<HostTensor> evaluate(Value value) {
  Operation *op = value.getDefiningOp();
  auto interpretable = dyn_cast_or_null<InterpretableOpInterface>(op);
  if (!interpretable || op->getNumRegions())
    return std::nullopt;
  for (Value result : op->getResults()) {
    std::optional<int64_t> count = countElements(nn::typeOf(result).getShape());
    if (!count || *count > kMaxFoldedElements)
      return std::nullopt;
  }
  std::vector<HostTensor> operands;
  operands.reserve(op->getNumOperands());
  for (Value operand : op->getOperands()) {
    std::optional<HostTensor> known = evaluate(operand);
    if (!known)
      return std::nullopt;
    operands.push_back(std::move(*known));
  }
  SmallVector<const HostTensor *> pointers;
  for (const HostTensor &operand : operands)
    pointers.push_back(&operand);
  SmallVector<HostTensor> results;
  for (Value result : op->getResults())
    results.emplace_back(nn::typeOf(result));
  ConstantContext context;
  if (failed(interpretable.interpret(context, pointers, results)))
    return std::nullopt;
  HostTensor &result = results[cast<OpResult>(value).getResultNumber()];
  result.roundToType();
  return std::move(result);
}

bool isZero(Value value) {
  std::optional<HostTensor> known = evaluate(value);
  return known && known->isFloat() &&
         llvm::all_of(known->floats, [](double each) { return each == 0; });
}

HostTensor dropConstantDimensions(const HostTensor &tensor, SmallVectorImpl<int64_t> &kept) {
  RankedTensorType type = tensor.getType();
  HostTensor reduced = tensor;
  for (int64_t dimension = type.getRank(); dimension-- > 0;) {
    if (reduced.size() > 0 && type.getDimSize(dimension) > 1 && isConstantAlong(reduced, dimension))
      reduced = firstAlong(reduced, dimension);
    else
      kept.insert(kept.begin(), dimension);
  }
  if (kept.size() == size_t(type.getRank()))
    return reduced;
  // A broadcast adds dimensions of extent 1 again, so the constant need not have
  // any.
  llvm::erase_if(kept, [&](int64_t dimension) { return type.getDimSize(dimension) == 1; });
  SmallVector<int64_t> shape;
  for (int64_t dimension : kept)
    shape.push_back(type.getDimSize(dimension));
  return reduced.reshaped(shape);
}

Value emitConstant(OpBuilder &builder, Location loc, const HostTensor &tensor) {
  RankedTensorType type = tensor.getType();
  SmallVector<int64_t> kept;
  HostTensor reduced = dropConstantDimensions(tensor, kept);
  if (reduced.size() == 1 && tensor.size() > 0) {
    DenseElementsAttr splat = reduced.toAttr();
    return builder.create<nn::ConstantOp>(
        loc,
        cast<ElementsAttr>(splat.reshape(nn::withShape(type, SmallVector<int64_t>(kept.size(), 1)))
                               .resizeSplat(type)));
  }
  Value constant = builder.create<nn::ConstantOp>(loc, cast<ElementsAttr>(reduced.toAttr()));
  if (reduced.getType() == type)
    return constant;
  return builder.create<nn::BroadcastOp>(loc, type, constant, kept);
}

void foldConstants(OpBuilder &builder, Block::iterator begin, Block::iterator end,
                   MutableArrayRef<Value> results) {
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(begin, end))) {
    if (op.getNumResults() != 1 || isa<nn::ConstantOp, nn::BroadcastOp>(op) ||
        !(llvm::all_of(op.getOperands(), isConstantLike) || isShapeArithmetic(&op)))
      continue;
    std::optional<HostTensor> known = evaluate(op.getResult(0));
    if (!known || !(isExact(&op) || isExactArithmetic(&op, *known)))
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(&op);
    Value constant = emitConstant(builder, op.getLoc(), *known);
    for (Value &result : results)
      if (result == op.getResult(0))
        result = constant;
    op.getResult(0).replaceAllUsesWith(constant);
    op.erase();
  }
}

LogicalResult tidy(FunctionOpInterface function) {
  if (failed(applyPatternsAndFoldGreedily(function, FrozenRewritePatternSet())))
    return failure();
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
  Block &body = function.getFunctionBody().front();
  SmallVector<nn::ConstantOp> constants;
  llvm::SmallPtrSet<Operation *, 32> seen;
  for (Operation &op : body)
    for (Value operand : op.getOperands())
      if (auto constant = operand.getDefiningOp<nn::ConstantOp>();
          constant && seen.insert(constant).second)
        constants.push_back(constant);
  for (nn::ConstantOp constant : llvm::reverse(constants))
    constant->moveBefore(&body, body.begin());
  return success();
}

HostTensor toHostTensor(Type element, const Tensor &tensor) {
  HostTensor host(RankedTensorType::get(tensor.shape, element));
  for (int64_t i = 0, e = tensor.numElements(); i < e; ++i) {
    if (host.isFloat())
      host.floats[i] = tensor.asDouble(i);
    else
      host.ints[i] = tensor.asInt(i);
  }
  return host;
}

ElementsAttr zeros(Type element, const Tensor &tensor) {
  return DenseElementsAttr::get(RankedTensorType::get(tensor.shape, element),
                                Builder(element.getContext()).getZeroAttr(element));
}

ElementsAttr toAttribute(MLIRContext *context, const Tensor &tensor, StringRef name) {
  constexpr int64_t kMaxDenseElements = 16;
  const Type element = convertElementType(context, tensor.type);
  const auto type = RankedTensorType::get(tensor.shape, element);
  unsigned width = elementBytes(tensor.type);
  if (tensor.numElements() > 0 && isSplat(tensor)) {
    Tensor first = tensor;
    first.shape.clear();
    first.bytes = tensor.bytes.take_front(width);
    DenseElementsAttr one = toHostTensor(element, first).toAttr();
    return cast<ElementsAttr>(one.resizeSplat(type));
  }
  if (tensor.numElements() <= kMaxDenseElements)
    return cast<ElementsAttr>(toHostTensor(element, tensor).toAttr());
  AsmResourceBlob blob = UnmanagedAsmResourceBlob::allocateWithAlign(
      tensor.bytes, width, [owner = tensor.owner](void *, size_t, size_t) {});
  return cast<ElementsAttr>(
      DenseResourceElementsAttr::get(type, resourceKey(name), std::move(blob)));
}

} // namespace dpc::onnx

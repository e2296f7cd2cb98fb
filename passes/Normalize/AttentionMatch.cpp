// Matches the ops around a softmax that together compute attention, beginning with the softmax.

#include "passes/Normalize/AttentionMatch.h"

#include "dialects/NN/IR/Expressions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

/// Whether `value` hides a score if it is added to the score or replaces it. Compared with usual
/// scores, the score then has no weight in the softmax.
static bool hidesScore(double value) { return value <= -1e9; }

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Divides `order`, a list of dimensions, into runs, one per dimension of `shape`. `extents[d]` is
/// the extent of dimension d of the list. The product of these extents over a run is the extent of
/// the run's dimension of `shape`. For example, for shape [6, 4], order 0, 1, 2 and extents 2, 3,
/// 4, the runs are (0, 1) and (2). nullopt if there are no such runs.
static std::optional<SmallVector<SmallVector<int64_t>>>
runsOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> order, ArrayRef<int64_t> extents) {
  SmallVector<SmallVector<int64_t>> runs;
  for (int64_t extent : shape) {
    runs.emplace_back();
    int64_t product = 1;
    while (product < extent && !order.empty()) {
      product *= extents[order.front()];
      runs.back().push_back(order.front());
      order = order.drop_front();
    }
    if (product != extent)
      return std::nullopt;
  }
  for (int64_t left : order) // the remaining dimensions have extent 1
    runs.back().push_back(left);
  return runs;
}

OperandTrace dpc::traceOperand(Value operand, ConstantValues &constants, bool throughScale) {
  ArrayRef<int64_t> extents = typeOf(operand).getShape();
  OperandTrace trace{operand, {}, 1};
  llvm::append_range(trace.order, llvm::seq<int64_t>(0, extents.size()));
  while (Operation *op = trace.value.getDefiningOp()) {
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      auto runs = runsOf(typeOf(trace.value).getShape(), trace.order, extents);
      if (!runs)
        break;
      SmallVector<SmallVector<int64_t>> before(runs->size());
      for (auto [i, d] : llvm::enumerate(transpose.getPermutation()))
        before[d] = (*runs)[i];
      trace.order.clear();
      for (const auto &run : before)
        llvm::append_range(trace.order, run);
      trace.value = transpose.getInput();
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      trace.value = reshape.getInput();
    } else if (auto product = dyn_cast<MulOp>(op); product && throughScale) {
      std::optional<double> left = constants.getSplat(product.getLhs()),
                            right = constants.getSplat(product.getRhs());
      if (!left == !right || !std::isfinite(left ? *left : *right))
        break;
      trace.scale *= left ? *left : *right;
      trace.value = left ? product.getRhs() : product.getLhs();
    } else if (auto quotient = dyn_cast<DivOp>(op); quotient && throughScale) {
      std::optional<double> by = constants.getSplat(quotient.getRhs());
      if (!by || !std::isfinite(1 / *by))
        break;
      trace.scale /= *by;
      trace.value = quotient.getLhs();
    } else {
      break;
    }
  }
  return trace;
}

//===----------------------------------------------------------------------===//
// Softmax and the product after it
//===----------------------------------------------------------------------===//

Value dpc::guardedForm(Value p, ConstantValues &constants) {
  for (Operation *user : p.getUsers()) {
    auto isNan = dyn_cast<IsNanOp>(user);
    if (!isNan || !isNan->hasOneUse() || !llvm::hasNItems(p.getUses(), 2))
      continue;
    auto select = dyn_cast<SelectOp>(*isNan->user_begin());
    if (select && select.getCondition() == isNan.getResult() && select.getOnFalse() == p &&
        constants.getSplat(select.getOnTrue()) == 0.0)
      return select.getResult();
  }
  return Value();
}

bool AttentionMatcher::matchResult(SoftmaxOp softmax) {
  Value p = softmax.getResult();
  if (Value guarded = guardedForm(p, constants)) {
    p = guarded;
    found.guarded = true;
  }
  if (!p.hasOneUse())
    return false;
  auto dot = dyn_cast<DotOp>(*p.user_begin());
  if (!dot)
    return false;
  found.result = dot;
  found.probabilityFirst = dot.getLhs() == p;
  bool first = found.probabilityFirst;
  ArrayRef<int64_t> contract = first ? dot.getLhsContract() : dot.getRhsContract();
  SmallVector<int64_t> free = first ? dot.getLhsFree() : dot.getRhsFree(),
                       ofValues = first ? dot.getRhsFree() : dot.getLhsFree();
  return contract == ArrayRef<int64_t>(found.keyDim) && free == ArrayRef<int64_t>(found.queryDim) &&
         ofValues.size() == 1;
}

static bool isEmpty(const AttentionMatch &match) {
  DotOp scores = match.scores, result = match.result;
  return llvm::any_of(
      ValueRange{scores.getLhs(), scores.getRhs(), result.getLhs(), result.getRhs()},
      [](Value value) { return typeOf(value).getNumElements() == 0; });
}

std::optional<AttentionMatch> AttentionMatcher::match(SoftmaxOp softmax) {
  found = {};
  isFinitelyCausal = false;
  causalMask = {};
  found.keyDim = softmax.getDimension();
  Type element = typeOf(softmax).getElementType();
  int64_t rank = typeOf(softmax).getRank();
  if (!element.isF32() && !element.isF64())
    return std::nullopt;
  if (rank < 2 || found.keyDim < rank - 2)
    return std::nullopt;
  found.queryDim = 2 * rank - 3 - found.keyDim;
  if (!matchResult(softmax) || !matchScores(softmax.getInput()) || isEmpty(found) ||
      !settleCausal())
    return std::nullopt;
  return found;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Matches the ops that compute `value`, from the softmax back to the product of queries and keys:
/// first the masks, then the scale. Each value must have only one use. If another op needs the
/// scores, they must be computed anyway, and nn.attention would save nothing.
bool AttentionMatcher::matchScores(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse())
    return false;
  if (auto dot = dyn_cast<DotOp>(op)) {
    if (dot.getLhsFree().size() != 1 || dot.getRhsFree().size() != 1 ||
        dot.getLhsContract().size() != 1)
      return false;
    found.scores = dot;
    found.queryFirst = found.queryDim < found.keyDim;
    return true;
  }
  AttentionMatch before = found;
  auto either = [&](bool matched) {
    if (!matched) {
      found = before;
      // It was false before this match: ops are matched in order from the product to the softmax,
      // so only the failed match can have set it.
      isFinitelyCausal = false;
    }
    return matched;
  };
  auto withScale = [&](double factor, Value of) {
    found.scale *= factor;
    return std::isfinite(found.scale) && matchScores(of);
  };
  if (auto product = dyn_cast<MulOp>(op)) {
    if (auto left = constants.getSplat(product.getLhs()))
      return either(withScale(*left, product.getRhs()));
    if (auto right = constants.getSplat(product.getRhs()))
      return either(withScale(*right, product.getLhs()));
    return false;
  }
  if (auto quotient = dyn_cast<DivOp>(op)) {
    auto by = constants.getSplat(quotient.getRhs());
    return by && *by != 0 && either(withScale(1 / *by, quotient.getLhs()));
  }
  // A mask that is added before the scale would have to be scaled too, so it is not matched.
  if (found.scale != 1)
    return false;
  if (auto sum = dyn_cast<AddOp>(op))
    return either(matchScores(sum.getLhs()) && matchMask(sum.getRhs())) ||
           either(matchScores(sum.getRhs()) && matchMask(sum.getLhs()));
  if (auto select = dyn_cast<SelectOp>(op))
    return either(matchScores(select.getOnTrue()) &&
                  matchSelect(select.getCondition(), select.getOnFalse(),
                              /*isInverted=*/false)) ||
           either(matchScores(select.getOnFalse()) &&
                  matchSelect(select.getCondition(), select.getOnTrue(),
                              /*isInverted=*/true));
  return false;
}

/// Whether the constant `mask` has the effect of `causal`. Calls `agrees` for each query and
/// key. The arguments of a call are the element of the mask, and whether the query sees the key
/// under a causal mask. All calls must return true.
bool AttentionMatcher::isCausal(const Narrow &mask, function_ref<bool(double, bool)> agrees) {
  auto extent = [&](int64_t d) { return typeOf(found.scores).getDimSize(d); };
  int64_t queries = extent(found.queryDim), keys = extent(found.keyDim);
  SmallVector<int64_t> both{std::min(found.queryDim, found.keyDim),
                            std::max(found.queryDim, found.keyDim)};
  if (keys < queries || mask.dimensions != both)
    return false;
  std::optional<HostTensor> values = constants.get(mask.value);
  if (!values)
    return false;
  bool queryFirst = found.queryDim < found.keyDim;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j) {
      int64_t at = queryFirst ? i * keys + j : j * queries + i;
      double value = values->isFloat() ? values->floats[at] : double(values->ints[at]);
      if (!agrees(value, j <= i + keys - queries))
        return false;
    }
  return true;
}

bool AttentionMatcher::matchMask(Value value) {
  if (isTrained(value))
    return false;
  Narrow mask = narrowing.narrow(found.result.getLoc(), value);
  bool isFinite = false;
  if (!isCausal(mask, [&](double x, bool isSeen) {
        isFinite |= !isSeen && !std::isinf(x);
        return isSeen ? x == 0 : hidesScore(x);
      }))
    return addMask(mask);
  found.causal = true;
  if (!isFinite)
    return true;
  causalMask = isFinitelyCausal ? Narrow() : mask;
  isFinitelyCausal = true;
  return true;
}

bool AttentionMatcher::matchSelect(Value condition, Value fill, bool isInverted) {
  std::optional<double> hidden = constants.getSplat(fill);
  if (!hidden || !hidesScore(*hidden))
    return false;
  Location loc = found.result.getLoc();
  Narrow mask = narrowing.narrow(loc, condition);
  if (isCausal(mask,
               [&](double x, bool isSeen) { return (x != 0) != isInverted ? isSeen : !isSeen; })) {
    found.causal = true;
    if (std::isinf(*hidden))
      return true;
    causalMask = {};
    isFinitelyCausal = true;
    return true;
  }
  // With a finite number, a row without visible keys would get other weights from the select than
  // from a mask.
  if (!std::isinf(*hidden))
    return false;
  OpBuilder builder(found.result);
  Expressions e{builder, loc};
  Type type = withShape(typeOf(fill), typeOf(mask.value).getShape());
  Value seen = e.splat(type, 0), unseen = e.splat(type, *hidden);
  mask.value = e.select(mask.value, isInverted ? unseen : seen, isInverted ? seen : unseen);
  return addMask(mask);
}

/// Adds `mask` to the masks that were found before. Fails if the sum would have as many elements as
/// the scores.
bool AttentionMatcher::addMask(Narrow mask) {
  if (constants.getSplat(mask.value) == 0.0)
    return true;
  if (!found.mask.value) {
    found.mask = std::move(mask);
    return true;
  }
  SmallVector<int64_t> dims(found.mask.dimensions), shape;
  llvm::append_range(dims, mask.dimensions);
  llvm::sort(dims);
  dims.erase(llvm::unique(dims), dims.end());
  int64_t elements = 1;
  for (int64_t d : dims) {
    shape.push_back(typeOf(found.scores).getDimSize(d));
    elements *= shape.back();
  }
  if (elements == typeOf(found.scores).getNumElements())
    return false;
  OpBuilder builder(found.result);
  Expressions e{builder, found.result.getLoc()};
  auto widened = [&](const Narrow &part) {
    auto places = llvm::map_to_vector(
        part.dimensions, [&](int64_t d) { return int64_t(llvm::find(dims, d) - dims.begin()); });
    return e.broadcast(part.value, shape, places);
  };
  found.mask = {e.add(widened(found.mask), widened(mask)), dims};
  return true;
}

/// Whether `mask` may hide all keys of a row. The answer is yes if the mask is not constant, or if
/// it has an element of -1e6 or less.
bool AttentionMatcher::mayHideKeys(const Narrow &mask) {
  std::optional<HostTensor> values = constants.get(mask.value);
  return !values || llvm::any_of(values->floats, [](double x) { return !(x > -1e6); });
}

/// Decides whether a causal mask that hides keys by a finite number can become `causal`. If another
/// mask may hide all keys that a query sees, the softmax gives weights to the keys that the finite
/// number hides. An added mask has this effect, but `causal` does not. Therefore the causal mask is
/// then added as a mask. Returns false if that is impossible.
bool AttentionMatcher::settleCausal() {
  if (!isFinitelyCausal || !found.mask.value || !mayHideKeys(found.mask))
    return true;
  found.causal = false;
  return causalMask.value && addMask(causalMask);
}

// Mixed precision (Micikevicius et al., "Mixed precision training", ICLR 2018). Converts the
// operands of products to 16 bits, the narrow type. Ops that only move numbers may take the type
// of their neighbours. The PrecisionOpInterface of an op says to which of these classes it belongs.

#include "passes/Normalize/Passes.h"
#include "passes/Normalize/Positions.h"

#include "dialects/NN/IR/Expressions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_NARROWFLOATS
#include "passes/Normalize/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

static int64_t elementsOf(ValueRange values) {
  int64_t sum = 0;
  for (Value value : values)
    sum += typeOf(value).getNumElements();
  return sum;
}

namespace {
class Narrower {
public:
  explicit Narrower(FloatType type) : type(type), wide(Float32Type::get(type.getContext())) {}

  void run(func::FuncOp function) {
    findExact(function);
    for (Operation &op : llvm::make_early_inc_range(function.front())) {
      auto rule = dyn_cast<PrecisionOpInterface>(&op);
      if (rule &&
          ((rule.getPrecision() == Precision::narrow && isWide(op) && !exact.contains(&op)) ||
           (rule.getPrecision() == Precision::follow && readsWidened(&op))))
        narrow(rule);
      else if (auto sum = dyn_cast<AddOp>(&op); sum && elementOf(sum) == wide)
        roundBiased(sum);
    }
    while (!narrowings.empty())
      sink(narrowings.pop_back_val());
  }

private:
  /// Finds the products whose operands are not rounded: products of positions, and products that
  /// sum nothing because the contracted dimension has extent 1. The latter are cheap, and often
  /// compute phases or scales.
  void findExact(func::FuncOp function) {
    const Positions positions(function);
    for (auto op : function.front().getOps<PrecisionOpInterface>()) {
      if (op.getPrecision() != Precision::narrow)
        continue;
      SmallVector<Value> factors;
      for (OpOperand &operand : op->getOpOperands())
        if (elementOf(operand.get()) == wide && op.narrowsOperand(operand.getOperandNumber()))
          factors.push_back(operand.get());
      auto cost = dyn_cast<CostOpInterface>(op.getOperation());
      const bool sumsUp = !cost || cost.getFlops() > 2 * typeOf(op->getResult(0)).getNumElements();
      if (!sumsUp || positions.areAmong(factors))
        exact.insert(op);
    }
  }

  /// Whether all floats among the operands and results of `op` are f32.
  bool isWide(Operation &op) const {
    auto fits = [&](Value value) {
      return !isa<FloatType>(elementOf(value)) || elementOf(value) == wide;
    };
    return llvm::all_of(op.getOperands(), fits) && llvm::all_of(op.getResults(), fits);
  }

  /// Whether `value` is the result of a conversion from the narrow type.
  bool isWidened(Value value) const {
    auto convert = value.getDefiningOp<ConvertOp>();
    return convert && elementOf(convert.getInput()) == type;
  }
  /// Returns the constant `value`, rounded to the narrow type. Null if `value` is not a constant,
  /// or if its elements are a resource. With `exactly`, also null if rounding changes an element.
  DenseElementsAttr narrowedConstant(Value value, bool exactly) const {
    auto constant = value.getDefiningOp<ConstantOp>();
    auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
    if (!dense)
      return {};
    auto to = cast<RankedTensorType>(typeOf(value).clone(type));
    if (dense.isSplat()) {
      double held = dense.getSplatValue<APFloat>().convertToDouble();
      if (exactly && roundToFloatType(held, type) != held)
        return {};
      bool lost;
      APFloat rounded = dense.getSplatValue<APFloat>();
      rounded.convert(FloatType(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      return DenseElementsAttr::get(to, rounded);
    }
    std::optional<HostTensor> held = HostTensor::fromAttr(dense);
    if (!held)
      return {};
    HostTensor rounded(to);
    rounded.floats = held->floats;
    rounded.roundToType();
    if (exactly && rounded.floats != held->floats)
      return {};
    return rounded.toAttr();
  }

  /// Whether `op` reads only floats that the narrow type can represent: results of conversions from
  /// this type, and constants that rounding does not change. At least one of them must be the
  /// result of a conversion.
  bool readsWidened(Operation *op) const {
    auto fits = [&](Value value) {
      return isWidened(value) || narrowedConstant(value, /*exactly=*/true);
    };
    return llvm::any_of(op->getOperands(), [&](Value v) { return isWidened(v); }) &&
           llvm::all_of(op->getOperands(), [&](Value value) {
             return !isa<FloatType>(elementOf(value)) || (elementOf(value) == wide && fits(value));
           });
  }

  /// Gives `op` narrow operands and results. Every user still reads a result in f32, through a
  /// conversion. Therefore the gradients of several users are added in f32. Pairs of conversions to
  /// f32 and back are folded later, after gradients are built.
  void narrow(PrecisionOpInterface op) {
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      if (elementOf(operand.get()) == wide && op.narrowsOperand(operand.getOperandNumber()))
        operand.set(narrowed(builder, op.getLoc(), operand.get()));
    builder.setInsertionPointAfter(op);
    for (OpResult result : op->getResults()) {
      if (elementOf(result) != wide || !op.narrowsResult(result.getResultNumber()))
        continue;
      result.setType(typeOf(result).clone(type));
      Value widened = Expressions{builder, op.getLoc()}.convert(result, wide);
      result.replaceAllUsesExcept(widened, widened.getDefiningOp());
    }
  }

  /// If `op` only moves or converts an operand, or adds a bias to it, returns this operand. Returns
  /// null for other ops.
  static Value getMoved(Operation *op) {
    if (isa<AddOp>(op))
      for (unsigned i : {0, 1})
        if (op->getOperand(i).getDefiningOp<BroadcastOp>())
          return op->getOperand(1 - i);
    auto rule = dyn_cast<PrecisionOpInterface>(op);
    const bool moves = rule && rule.getPrecision() == Precision::follow;
    return isa<ConvertOp>(op) || (moves && op->getNumOperands() == 1) ? op->getOperand(0) : nullptr;
  }

  /// Returns the narrow op whose result `value` is, perhaps converted, moved and with a bias. Null
  /// if there is none.
  static Operation *findProduct(Value value) {
    while (Operation *op = value ? value.getDefiningOp() : nullptr) {
      auto rule = dyn_cast<PrecisionOpInterface>(op);
      if (rule && rule.getPrecision() == Precision::narrow)
        return op;
      value = getMoved(op);
    }
    return nullptr;
  }

  /// Whether other products are added to `value`, as in the gates of a recurrent layer. Only the
  /// complete sum then is the result of a layer.
  static bool isPartOfSum(Value value) {
    return llvm::any_of(value.getUses(), [](OpOperand &use) {
      Operation *user = use.getOwner();
      if (isa<AddOp>(user))
        return findProduct(user->getOperand(1 - use.getOperandNumber())) != nullptr;
      return getMoved(user) && isPartOfSum(user->getResult(0));
    });
  }

  /// If `sum` adds a bias to the result of a narrow op, rounds the sum. The sum then is the result
  /// that is kept, read and differentiated, with 16 bits. Without this, every linear layer with a
  /// bias would have f32 results, although each of them has been rounded already.
  void roundBiased(AddOp sum) {
    if (isPartOfSum(sum))
      return;
    for (OpOperand &operand : sum->getOpOperands()) {
      auto bias = operand.get().getDefiningOp<BroadcastOp>();
      Value other = sum->getOperand(1 - operand.getOperandNumber());
      if (!bias || elementsOf(bias.getInput()) == elementsOf(bias.getResult()) ||
          !isWidened(other) || !other.hasOneUse() || !findProduct(other))
        continue;
      OpBuilder builder(sum);
      builder.setInsertionPointAfter(sum);
      Expressions e{builder, sum.getLoc()};
      Value narrow = e.convert(sum, type), widened = e.convert(narrow, wide);
      sum.getResult().replaceAllUsesExcept(widened, narrow.getDefiningOp());
      return;
    }
  }

  Value narrowed(OpBuilder &builder, Location loc, Value value) {
    if (DenseElementsAttr constant = narrowedConstant(value, /*exactly=*/false))
      return builder.create<ConstantOp>(loc, constant);
    auto convert = builder.create<ConvertOp>(loc, typeOf(value).clone(type), value);
    narrowings.push_back(convert);
    return convert;
  }

  /// Moves a conversion to the narrow type before an op that only moves numbers. Does so if all
  /// readers of the op are such conversions, and if no more elements are converted afterwards. For
  /// example, a weight is converted before it is transposed, so that the product can absorb the
  /// transposition.
  void sink(ConvertOp narrowing) {
    auto op = narrowing.getInput().getDefiningOp<PrecisionOpInterface>();
    auto isNarrowed = [&](Operation *reader) { return isNarrowing(reader); };
    if (!op || op.getPrecision() != Precision::follow ||
        !llvm::all_of(op->getUsers(), isNarrowed) || !isWide(*op) ||
        elementsOf(op->getOperands()) > elementsReadNarrow(op))
      return;
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      if (elementOf(operand.get()) == wide)
        operand.set(narrowed(builder, op.getLoc(), operand.get()));
    Value result = op->getResult(0);
    result.setType(narrowing.getType());
    if (result.hasOneUse()) {
      narrowing.replaceAllUsesWith(result);
      return narrowing.erase();
    }
    // Other users keep their own conversions and read the result in f32, as in `narrow`.
    builder.setInsertionPointAfter(op);
    Value widened = Expressions{builder, op.getLoc()}.convert(result, wide);
    result.replaceAllUsesExcept(widened, widened.getDefiningOp());
  }

  /// Returns the number of elements that need no conversion after `op` if the operands of `op` are
  /// converted instead. Usually these are the elements of the result of `op`. Several ops may take
  /// parts of one operand, e.g. the queries, keys and values that are slices of one product. If all
  /// readers of these parts are conversions to the narrow type, the elements of all parts count.
  int64_t elementsReadNarrow(Operation *op) const {
    if (op->getNumOperands() != 1)
      return elementsOf(op->getResults());
    int64_t elements = 0;
    for (Operation *user : op->getOperand(0).getUsers()) {
      auto part = dyn_cast<PrecisionOpInterface>(user);
      const bool isNarrow = isNarrowing(user);
      if (!isNarrow &&
          (!part || part.getPrecision() != Precision::follow ||
           !llvm::all_of(user->getUsers(), [&](Operation *reader) { return isNarrowing(reader); })))
        return elementsOf(op->getResults());
      elements += elementsOf(user->getResults());
    }
    return elements;
  }
  bool isNarrowing(Operation *op) const {
    return isa<ConvertOp>(op) && elementOf(op->getResult(0)) == type;
  }

  FloatType type, wide;
  /// Products that stay in f32. Looked up by key only, so that the order of the set has no effect.
  llvm::DenseSet<Operation *> exact;
  /// Conversions to the narrow type that this pass has created and that sink() has not visited yet.
  SmallVector<ConvertOp> narrowings;
};

struct NarrowFloatsPass : dpc::impl::NarrowFloatsBase<NarrowFloatsPass> {
  using NarrowFloatsBase::NarrowFloatsBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    FloatType narrow;
    if (type == "bf16")
      narrow = BFloat16Type::get(context);
    else if (type == "f16")
      narrow = Float16Type::get(context);
    if (!narrow) {
      getOperation().emitError("dpc-narrow-floats: unknown type '")
          << type << "'; known: bf16, f16";
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        Narrower(narrow).run(function);
  }
};
} // namespace

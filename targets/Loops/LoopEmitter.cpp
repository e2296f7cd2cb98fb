// Writes loops and index arithmetic in MLIR's llvm and arith dialects.

#include "targets/Loops/LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

#include <functional>
#include <numeric>

using namespace mlir;
using namespace dpc;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;
using Range = LoopEmitter::Range;

Type dpc::registerType(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(elementType.getContext(), integer.getWidth());
  return elementType;
}

//===----------------------------------------------------------------------===//
// Index expressions
//===----------------------------------------------------------------------===//

Index LoopEmitter::bind(Value value, int64_t low, int64_t high) {
  Index &known = variableOf[value];
  if (!known) {
    known = variable(low, high);
    valueOf[known] = value;
  }
  return known;
}

/// The multiple of n > 0 that is added to a dividend with the lowest value `low`, so that it is not
/// negative. Unsigned division then rounds down.
static int64_t shiftOf(int64_t low, int64_t n) {
  return low < 0 ? static_cast<int64_t>(llvm::divideCeil(-low, n)) * n : 0;
}

/// Whether the values of the expression and of all its parts fit in 32 bits.
bool LoopEmitter::isNarrow(Index expression) {
  if (auto known = isKnownNarrow.find(expression); known != isKnownNarrow.end())
    return known->second;
  auto fits = [](Range range) { return range.first >= INT32_MIN && range.second <= INT32_MAX; };
  bool all = fits(rangeOf(expression));
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expression)) {
    all = all && isNarrow(binary.getLHS()) && isNarrow(binary.getRHS());
    if (binary.getKind() != AffineExprKind::Add && binary.getKind() != AffineExprKind::Mul) {
      const Range dividend = rangeOf(binary.getLHS());
      const int64_t n = cast<AffineConstantExpr>(binary.getRHS()).getValue();
      all = all && dividend.second <= INT32_MAX - shiftOf(dividend.first, n);
    }
  }
  return isKnownNarrow[expression] = all;
}

Value LoopEmitter::materialize(Index expression) {
  const IntegerType i64 = builder.getI64Type();
  if (!narrowIndices || !isa<AffineBinaryOpExpr>(expression) || !isNarrow(expression))
    return materializeAs(i64, expression);
  static const char kind = 0;
  const void *key = expression.getAsOpaquePointer();
  if (Value known = lookup(&kind, key))
    return known;
  Value narrow = materializeAs(builder.getI32Type(), expression);
  Value result = rangeOf(expression).first >= 0 ? make<arith::ExtUIOp>(i64, narrow).getResult()
                                                : make<arith::ExtSIOp>(i64, narrow).getResult();
  remember(&kind, key, result);
  return result;
}

/// Emits arithmetic of type i64 or i32 that computes the expression. All its values must fit.
Value LoopEmitter::materializeAs(IntegerType type, Index expression) {
  static const char kinds[2] = {};
  const bool isWide = type.getWidth() == 64;
  if (isWide && isa<AffineDimExpr>(expression))
    return valueOf.lookup(expression);
  const void *kind = &kinds[isWide], *key = expression.getAsOpaquePointer();
  if (Value known = lookup(kind, key))
    return known;
  Value result;
  if (isa<AffineDimExpr>(expression)) {
    result = make<arith::TruncIOp>(type, valueOf.lookup(expression));
  } else if (auto value = dyn_cast<AffineConstantExpr>(expression)) {
    result = make<arith::ConstantOp>(builder.getIntegerAttr(type, value.getValue()));
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expression);
    // The parts of a wide expression may be narrow.
    auto part = [&](Index index) {
      return isWide ? materialize(index) : materializeAs(type, index);
    };
    Value l = part(binary.getLHS()), r = part(binary.getRHS());
    auto flags = arith::IntegerOverflowFlags::nsw;
    switch (expression.getKind()) {
    case AffineExprKind::Add:
      result = make<arith::AddIOp>(l, r, flags);
      break;
    case AffineExprKind::Mul:
      result = make<arith::MulIOp>(l, r, flags);
      break;
    default: {
      const int64_t n = cast<AffineConstantExpr>(binary.getRHS()).getValue();
      const int64_t shift = shiftOf(rangeOf(binary.getLHS()).first, n);
      auto constantOf = [&](int64_t value) -> Value {
        return make<arith::ConstantOp>(builder.getIntegerAttr(type, value));
      };
      if (shift)
        l = make<arith::AddIOp>(l, constantOf(shift), flags);
      if (expression.getKind() == AffineExprKind::Mod) {
        result = make<arith::RemUIOp>(l, r);
        break;
      }
      result = make<arith::DivUIOp>(l, r);
      if (shift)
        result = make<arith::SubIOp>(result, constantOf(shift / n));
    }
    }
  }
  remember(kind, key, result);
  return result;
}

Value LoopEmitter::inRange(Index expression, int64_t low, int64_t high) {
  // Neighbours that are computed together then have the same condition.
  if (joinsNeighbours)
    expression = roundedDown(expression, std::gcd(low, high)).first;
  Range range = rangeOf(expression);
  Value above, below;
  if (range.first < low)
    above = make<arith::CmpIOp>(arith::CmpIPredicate::sge, materialize(expression),
                                materialize(constant(low)));
  if (range.second >= high)
    below = make<arith::CmpIOp>(arith::CmpIPredicate::slt, materialize(expression),
                                materialize(constant(high)));
  return both(above, below);
}

Index LoopEmitter::clamped(Index expression, int64_t extent) {
  const auto [first, unit] = roundedDown(expression, extent);
  const Index units = floorDiv(first, unit);
  const int64_t last = extent / unit - 1;
  const Range range = rangeOf(units);
  if (range.first >= 0 && range.second <= last)
    return expression;
  const void *kind = constant(last).getAsOpaquePointer(), *key = units.getAsOpaquePointer();
  Value place = lookup(kind, key);
  if (!place) {
    place = make<arith::MaxSIOp>(materialize(units), materialize(constant(0)));
    place = make<arith::MinSIOp>(place, materialize(constant(last)));
    remember(kind, key, place);
  }
  const int64_t rest = splitConstant(expression).second - splitConstant(first).second;
  return bind(place, 0, last) * unit + rest;
}

Value LoopEmitter::allInRange(ArrayRef<IndexBound> bounds) {
  Value all;
  for (const IndexBound &bound : bounds)
    all = both(all, inRange(bound.position, 0, bound.extent));
  return all;
}

Value LoopEmitter::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return make<arith::AndIOp>(a, b);
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

// Loops test their condition at the end, as LLVM's rotated loops do. The annotation
// is therefore on the branch at the end.
Values LoopEmitter::emitLoop(Value first, Value end, Range range, bool guarded,
                             LLVM::LoopAnnotationAttr annotation, ValueRange initial,
                             function_ref<Values(Index, ValueRange)> body) {
  Block *before = builder.getInsertionBlock();
  Block *after = before->splitBlock(builder.getInsertionPoint());
  Block *iteration = builder.createBlock(after);
  SmallVector<Location> locations(initial.size(), loc);
  after->addArguments(initial.getTypes(), locations);
  Value i = iteration->addArgument(builder.getI64Type(), loc);
  iteration->addArguments(initial.getTypes(), locations);
  ValueRange carried = iteration->getArguments().drop_front();

  builder.setInsertionPointToEnd(before);
  SmallVector<Value> entry{first};
  llvm::append_range(entry, initial);
  if (guarded) {
    Value some = make<arith::CmpIOp>(arith::CmpIPredicate::slt, first, end);
    make<LLVM::CondBrOp>(some, iteration, entry, after, Values(initial));
  } else {
    make<LLVM::BrOp>(entry, iteration);
  }

  builder.setInsertionPointToStart(iteration);
  enterScope();
  Values next = body(bind(i, range.first, range.second), carried);
  leaveScope();
  Value one = make<arith::ConstantOp>(builder.getI64IntegerAttr(1));
  Value following = make<arith::AddIOp>(i, one, arith::IntegerOverflowFlags::nsw);
  Value more = make<arith::CmpIOp>(arith::CmpIPredicate::slt, following, end);
  SmallVector<Value> again{following};
  llvm::append_range(again, next);
  auto latch = make<LLVM::CondBrOp>(more, iteration, again, after, next);
  if (annotation)
    latch.setLoopAnnotationAttr(annotation);
  builder.setInsertionPointToStart(after);
  return Values(after->getArguments());
}

static Value i64Constant(LoopEmitter &e, int64_t value) {
  return e.make<arith::ConstantOp>(e.builder.getI64IntegerAttr(value));
}

Values LoopEmitter::loop(int64_t extent, ValueRange initial,
                         function_ref<Values(Index, ValueRange)> body) {
  if (extent <= 0)
    return Values(initial);
  if (extent == 1)
    return body(constant(0), initial);
  return emitLoop(i64Constant(*this, 0), i64Constant(*this, extent), {0, extent - 1}, false,
                  nullptr, initial, body);
}

void LoopEmitter::sequence(int64_t extent, function_ref<void(Index)> body) {
  loop(extent, {}, [&](Index i, ValueRange) {
    body(i);
    return Values();
  });
}

void LoopEmitter::sequenceOfFound(int64_t extent, function_ref<Found(Index)> find,
                                  function_ref<void(Index, Index)> body) {
  sequence(extent, [&](Index i) {
    const Found found = find(i);
    when(found.condition, [&] { body(i, found.index); });
  });
}

Values LoopEmitter::loopBetween(Value first, Value end, int64_t highest, ValueRange initial,
                                function_ref<Values(Index, ValueRange)> body) {
  return emitLoop(first, end, {0, std::max<int64_t>(0, highest - 1)}, true, nullptr, initial, body);
}

void LoopEmitter::forEach(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<Index>)> body,
                          Lanes lanes) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<Index> index;
  std::function<void()> nest = [&] {
    if (index.size() == shape.size()) {
      body(index);
      return;
    }
    int64_t extent = shape[index.size()];
    auto iteration = [&](Index i, ValueRange) {
      index.push_back(i);
      nest();
      index.pop_back();
      return Values();
    };
    if (extent == 1)
      iteration(constant(0), {});
    else
      emitLoop(i64Constant(*this, 0), i64Constant(*this, extent), {0, extent - 1}, false,
               lanes == Lanes::whereLegal ? vectorLoop : parallelLoop, {}, iteration);
  };
  nest();
}

Values LoopEmitter::loop(ArrayRef<int64_t> shape, ValueRange initial,
                         function_ref<Values(ArrayRef<Index>, ValueRange)> body) {
  SmallVector<Index> index;
  std::function<Values(ValueRange)> nest = [&](ValueRange carried) -> Values {
    if (index.size() == shape.size())
      return body(index, carried);
    return loop(shape[index.size()], carried, [&](Index i, ValueRange now) {
      index.push_back(i);
      Values next = nest(now);
      index.pop_back();
      return next;
    });
  };
  return nest(initial);
}

Values LoopEmitter::reduce(ArrayRef<int64_t> shape, ValueRange identity,
                           function_ref<Values(ArrayRef<Index>, ValueRange)> accumulate,
                           function_ref<Values(ValueRange, ValueRange)>) {
  return loop(shape, identity, accumulate);
}

Value LoopEmitter::branch(Value condition, function_ref<Value()> then,
                          function_ref<Value()> otherwise) {
  return branch(condition, [&] { return Values{then()}; }, [&] { return Values{otherwise()}; })[0];
}

Values LoopEmitter::branch(Value condition, function_ref<Values()> then,
                           function_ref<Values()> otherwise) {
  if (!condition)
    return then();
  Block *before = builder.getInsertionBlock();
  Block *after = before->splitBlock(builder.getInsertionPoint());
  Block *thenBlock = builder.createBlock(after);
  Block *elseBlock = builder.createBlock(after);
  builder.setInsertionPointToEnd(before);
  make<LLVM::CondBrOp>(condition, thenBlock, elseBlock);
  auto side = [&](Block *block, function_ref<Values()> emit) {
    builder.setInsertionPointToStart(block);
    enterScope();
    Values values = emit();
    leaveScope();
    make<LLVM::BrOp>(ValueRange(values), after);
    return values;
  };
  const Values values = side(thenBlock, then);
  side(elseBlock, otherwise);
  Values results;
  for (Value value : values)
    results.push_back(after->addArgument(value.getType(), loc));
  builder.setInsertionPointToStart(after);
  return results;
}

void LoopEmitter::when(Value condition, function_ref<void()> then) {
  if (!condition)
    return then();
  Block *before = builder.getInsertionBlock();
  Block *after = before->splitBlock(builder.getInsertionPoint());
  Block *thenBlock = builder.createBlock(after);
  builder.setInsertionPointToEnd(before);
  make<LLVM::CondBrOp>(condition, thenBlock, after);
  builder.setInsertionPointToStart(thenBlock);
  enterScope();
  then();
  leaveScope();
  make<LLVM::BrOp>(ValueRange(), after);
  builder.setInsertionPointToStart(after);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value LoopEmitter::read(Value tensor, ArrayRef<Index> positions) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return read(tensor, ElementIndex(*this, type.getShape(), positions));
}

Index LoopEmitter::readIndex(Value tensor, const ElementIndex &index, int64_t extent) {
  return readCheckedIndex(tensor, index, extent).first;
}

std::pair<Index, Value> LoopEmitter::readCheckedIndex(Value tensor, const ElementIndex &index,
                                                      int64_t extent) {
  static const char clampKind = 0, insideKind = 0;
  Value element = read(tensor, index);
  const void *key = element.getAsOpaquePointer();
  int64_t last = std::max<int64_t>(0, extent - 1);
  Value clamped = lookup(&clampKind, key), inside = lookup(&insideKind, key);
  if (!clamped) {
    Value wide = element;
    if (element.getType() != builder.getI64Type())
      wide = make<arith::ExtSIOp>(builder.getI64Type(), element);
    Value limit = i64Constant(*this, last);
    clamped = make<arith::MinUIOp>(wide, limit);
    inside = make<arith::CmpIOp>(arith::CmpIPredicate::ule, wide, limit);
    remember(&clampKind, key, clamped);
    remember(&insideKind, key, inside);
  }
  return {bind(clamped, 0, last), inside};
}

/// The address of element `number`. With `addsConstantLast`, a constant term of the number is
/// added last, so that LLVM sees which elements are neighbours, and can join their accesses. The
/// address without this term may be outside of the tensor.
/// The value of an expression. If it is a multiple of a power of two, its last operation is a
/// multiplication by this number, so that LLVM knows the alignment of an address that has it.
static Value multipleOf(LoopEmitter &e, Index expression) {
  const int64_t kMost = 16;
  const int64_t divisor =
      std::gcd(static_cast<int64_t>(expression.getLargestKnownDivisor()), kMost);
  if (divisor == 1 || isa<AffineConstantExpr>(expression))
    return e.materialize(expression);
  Index quotient = IndexSpace::exactQuotient(expression, divisor);
  return e.make<arith::MulIOp>(e.materialize(quotient), e.materialize(e.constant(divisor)));
}

static Value addressOf(LoopEmitter &e, Value address, Type type, Index number,
                       bool addsConstantLast) {
  auto at = [&](Value base, Index index, bool inbounds) -> Value {
    return e.make<LLVM::GEPOp>(LLVM::LLVMPointerType::get(e.builder.getContext()), type, base,
                               ValueRange(e.materialize(index)), inbounds);
  };
  if (!addsConstantLast)
    return at(address, number, /*inbounds=*/true);
  const auto [variable, constant] = IndexSpace::splitConstant(number);
  Value base = e.make<LLVM::GEPOp>(LLVM::LLVMPointerType::get(e.builder.getContext()), type,
                                   address, ValueRange(multipleOf(e, variable)));
  return constant ? at(base, e.constant(constant), /*inbounds=*/false) : base;
}

Value LoopEmitter::loadAt(Value address, Type type, Index number) {
  auto op = make<LLVM::LoadOp>(type, addressOf(*this, address, type, number, joinsNeighbours));
  op.setAccessGroupsAttr(accessGroups);
  return op;
}

void LoopEmitter::storeAt(Value address, Value element, Index number) {
  auto op = make<LLVM::StoreOp>(
      element, addressOf(*this, address, element.getType(), number, joinsNeighbours));
  op.setAccessGroupsAttr(accessGroups);
}

Value LoopEmitter::constantLike(Type type, double value) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return make<arith::ConstantOp>(builder.getFloatAttr(floatType, value));
  return make<arith::ConstantOp>(builder.getIntegerAttr(type, static_cast<int64_t>(value)));
}

Value LoopEmitter::constantInt(Type type, const APInt &value) {
  return make<arith::ConstantOp>(builder.getIntegerAttr(type, value));
}

Value LoopEmitter::lookup(const void *kind, const void *key) const {
  for (const auto &scope : llvm::reverse(scopes))
    if (Value value = scope.lookup({kind, key}))
      return value;
  return Value();
}

void LoopEmitter::remember(const void *kind, const void *key, Value value) {
  scopes.back()[{kind, key}] = value;
}

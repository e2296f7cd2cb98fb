// Index expressions of loop nests, simplified by the ranges of their variables.

#include "dialects/Interfaces/LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace dpc;

using Index = LoopEmitter::Index;
using Range = LoopEmitter::Range;

//===----------------------------------------------------------------------===//
// ElementIndex
//===----------------------------------------------------------------------===//

ElementIndex::ElementIndex(LoopEmitter &emitter, ArrayRef<int64_t> shape,
                           ArrayRef<AffineExpr> positions)
    : emitter(&emitter), shape(shape), dims(positions) {}

ElementIndex::ElementIndex(LoopEmitter &emitter, ArrayRef<int64_t> shape,
                           AffineExpr number)
    : emitter(&emitter), shape(shape), linear(number) {}

ArrayRef<AffineExpr> ElementIndex::positions() const {
  if (dims.empty() && !shape.empty())
    dims = emitter->delinearize(linear, shape);
  return dims;
}

AffineExpr ElementIndex::number() const {
  if (!linear)
    linear = emitter->linearize(dims, shape);
  return linear;
}

//===----------------------------------------------------------------------===//
// Index expressions
//===----------------------------------------------------------------------===//

Index LoopEmitter::bind(Value value, int64_t low, int64_t high) {
  auto [place, isNew] = variableOf.try_emplace(value, variables.size());
  if (isNew)
    variables.push_back({value, low, high});
  return getAffineDimExpr(place->second, builder.getContext());
}

Range LoopEmitter::rangeOf(Index expression) const {
  switch (expression.getKind()) {
  case AffineExprKind::Constant: {
    int64_t value = cast<AffineConstantExpr>(expression).getValue();
    return {value, value};
  }
  case AffineExprKind::DimId: {
    const Variable &variable =
        variables[cast<AffineDimExpr>(expression).getPosition()];
    return {variable.low, variable.high};
  }
  case AffineExprKind::SymbolId:
    break;
  default: {
    auto binary = cast<AffineBinaryOpExpr>(expression);
    Range l = rangeOf(binary.getLHS()), r = rangeOf(binary.getRHS());
    int64_t n = r.first; // a constant, but for sums
    switch (expression.getKind()) {
    case AffineExprKind::Add:
      return {l.first + r.first, l.second + r.second};
    case AffineExprKind::Mul:
      return n < 0 ? Range{l.second * n, l.first * n}
                   : Range{l.first * n, l.second * n};
    case AffineExprKind::FloorDiv:
      return {llvm::divideFloorSigned(l.first, n),
              llvm::divideFloorSigned(l.second, n)};
    default:
      if (llvm::divideFloorSigned(l.first, n) ==
          llvm::divideFloorSigned(l.second, n))
        return {llvm::mod(l.first, n), llvm::mod(l.second, n)};
      return {0, n - 1};
    }
  }
  }
  return {std::numeric_limits<int32_t>::min(),
          std::numeric_limits<int32_t>::max()};
}

/// A number that divides every value of an expression; 0 for the constant 0.
/// AffineExpr::isMultipleOf takes a quotient for a remainder.
static int64_t divisorOf(Index expression) {
  switch (expression.getKind()) {
  case AffineExprKind::Constant:
    return std::abs(cast<AffineConstantExpr>(expression).getValue());
  case AffineExprKind::Add:
  case AffineExprKind::Mod: {
    auto binary = cast<AffineBinaryOpExpr>(expression);
    return std::gcd(divisorOf(binary.getLHS()), divisorOf(binary.getRHS()));
  }
  case AffineExprKind::Mul: {
    auto binary = cast<AffineBinaryOpExpr>(expression);
    return divisorOf(binary.getLHS()) * divisorOf(binary.getRHS());
  }
  default:
    return 1;
  }
}

/// Splits a sum into what n divides term by term, divided by n, and the rest.
static std::pair<Index, Index> splitSum(Index expression, int64_t n) {
  MLIRContext *context = expression.getContext();
  Index zero = getAffineConstantExpr(0, context);
  if (expression.getKind() == AffineExprKind::Add) {
    auto sum = cast<AffineBinaryOpExpr>(expression);
    auto [leftQuotient, leftRest] = splitSum(sum.getLHS(), n);
    auto [rightQuotient, rightRest] = splitSum(sum.getRHS(), n);
    return {leftQuotient + rightQuotient, leftRest + rightRest};
  }
  if (auto value = dyn_cast<AffineConstantExpr>(expression)) {
    int64_t quotient = llvm::divideFloorSigned(value.getValue(), n);
    return {getAffineConstantExpr(quotient, context),
            getAffineConstantExpr(value.getValue() - quotient * n, context)};
  }
  if (divisorOf(expression) % n == 0)
    return {expression.floorDiv(n), zero};
  return {zero, expression};
}

Index LoopEmitter::floorDiv(Index expression, int64_t n) {
  if (n == 1)
    return expression;
  auto [quotient, rest] = splitSum(expression, n);
  Range range = rangeOf(rest);
  int64_t low = llvm::divideFloorSigned(range.first, n);
  if (low == llvm::divideFloorSigned(range.second, n))
    return quotient + low;
  return quotient + rest.floorDiv(n);
}

Index LoopEmitter::mod(Index expression, int64_t n) {
  if (n == 1)
    return constant(0);
  Index rest = splitSum(expression, n).second;
  Range range = rangeOf(rest);
  int64_t low = llvm::divideFloorSigned(range.first, n);
  if (low == llvm::divideFloorSigned(range.second, n))
    return rest - low * n;
  return rest % n;
}

Index LoopEmitter::linearize(ArrayRef<Index> positions,
                             ArrayRef<int64_t> shape) {
  // Neighbours that are quotient and remainder of one expression are that
  // expression: what splitting a number into positions has made.
  SmallVector<Index> dims(positions);
  SmallVector<int64_t> extents(shape);
  for (int64_t d = int64_t(dims.size()) - 1; d > 0; --d) {
    if (dims[d].getKind() != AffineExprKind::Mod)
      continue;
    auto rest = cast<AffineBinaryOpExpr>(dims[d]);
    auto divisor = dyn_cast<AffineConstantExpr>(rest.getRHS());
    int64_t extent = extents[d];
    if (!divisor || divisor.getValue() != extent)
      continue;
    Index whole = rest.getLHS(), quotient = floorDiv(whole, extent);
    if (dims[d - 1] == quotient)
      dims[d - 1] = whole;
    else if (dims[d - 1] == mod(quotient, extents[d - 1]))
      dims[d - 1] = mod(whole, extent * extents[d - 1]);
    else
      continue;
    extents[d - 1] *= extent;
    dims.erase(dims.begin() + d);
    extents.erase(extents.begin() + d);
  }
  Index number = constant(0);
  for (auto [position, extent] : llvm::zip_equal(dims, extents))
    number = number * extent + position;
  return number;
}

SmallVector<Index> LoopEmitter::delinearize(Index number,
                                            ArrayRef<int64_t> shape) {
  SmallVector<Index> positions(shape.size());
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    int64_t extent = std::max<int64_t>(1, shape[d]);
    positions[d] = d == 0 ? number : mod(number, extent);
    if (d > 0)
      number = floorDiv(number, extent);
  }
  return positions;
}

Value LoopEmitter::materialize(Index expression) {
  static const char kind = 0;
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return variables[dim.getPosition()].value;
  const void *key = expression.getAsOpaquePointer();
  if (Value known = lookup(&kind, key))
    return known;
  Value result;
  if (auto value = dyn_cast<AffineConstantExpr>(expression)) {
    result =
        make<arith::ConstantOp>(builder.getI64IntegerAttr(value.getValue()));
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expression);
    Value l = materialize(binary.getLHS()), r = materialize(binary.getRHS());
    auto flags = arith::IntegerOverflowFlags::nsw;
    switch (expression.getKind()) {
    case AffineExprKind::Add:
      result = make<arith::AddIOp>(l, r, flags);
      break;
    case AffineExprKind::Mul:
      result = make<arith::MulIOp>(l, r, flags);
      break;
    default: {
      // Made non-negative first, so that unsigned division rounds down.
      int64_t n = cast<AffineConstantExpr>(binary.getRHS()).getValue();
      int64_t low = rangeOf(binary.getLHS()).first;
      int64_t shift = low < 0 ? llvm::divideCeil(-low, n) : 0;
      if (shift)
        l = make<arith::AddIOp>(l, materialize(constant(shift * n)), flags);
      if (expression.getKind() == AffineExprKind::Mod) {
        result = make<arith::RemUIOp>(l, r);
        break;
      }
      result = make<arith::DivUIOp>(l, r);
      if (shift)
        result = make<arith::SubIOp>(result, materialize(constant(shift)));
    }
    }
  }
  remember(&kind, key, result);
  return result;
}

Value LoopEmitter::inRange(Index expression, int64_t low, int64_t high) {
  Range range = rangeOf(expression);
  Value above, below;
  if (range.first < low)
    above =
        make<arith::CmpIOp>(arith::CmpIPredicate::sge, materialize(expression),
                            materialize(constant(low)));
  if (range.second >= high)
    below =
        make<arith::CmpIOp>(arith::CmpIPredicate::slt, materialize(expression),
                            materialize(constant(high)));
  return both(above, below);
}

Value LoopEmitter::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return make<arith::AndIOp>(a, b);
}

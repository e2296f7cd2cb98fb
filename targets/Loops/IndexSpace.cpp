// Creates index expressions for loop nests, and simplifies them with the ranges
// of their variables.

#include "targets/Loops/IndexSpace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace dpc;

using Index = IndexSpace::Index;
using Range = IndexSpace::Range;

//===----------------------------------------------------------------------===//
// ElementIndex
//===----------------------------------------------------------------------===//

ElementIndex::ElementIndex(IndexSpace &space, ArrayRef<int64_t> shape,
                           ArrayRef<AffineExpr> positions)
    : space(&space), shape(shape), dims(positions) {}

ElementIndex::ElementIndex(IndexSpace &space, ArrayRef<int64_t> shape, AffineExpr number)
    : space(&space), shape(shape), linear(number) {}

ArrayRef<AffineExpr> ElementIndex::positions() const {
  if (dims.empty() && !shape.empty())
    dims = space->delinearize(linear, shape);
  return dims;
}

AffineExpr ElementIndex::number() const {
  if (!linear)
    linear = space->linearize(dims, shape);
  return linear;
}

//===----------------------------------------------------------------------===//
// Index expressions
//===----------------------------------------------------------------------===//

Index IndexSpace::variable(int64_t low, int64_t high) {
  variables.push_back({low, high});
  return getAffineDimExpr(variables.size() - 1, context);
}

Range IndexSpace::rangeOf(Index expression) const {
  switch (expression.getKind()) {
  case AffineExprKind::Constant: {
    int64_t value = cast<AffineConstantExpr>(expression).getValue();
    return {value, value};
  }
  case AffineExprKind::DimId:
    return variables[cast<AffineDimExpr>(expression).getPosition()];
  case AffineExprKind::SymbolId:
    break;
  default: {
    auto binary = cast<AffineBinaryOpExpr>(expression);
    Range l = rangeOf(binary.getLHS()), r = rangeOf(binary.getRHS());
    int64_t n = r.first; // unless the expression is a sum, its right operand is the constant n
    switch (expression.getKind()) {
    case AffineExprKind::Add:
      return {l.first + r.first, l.second + r.second};
    case AffineExprKind::Mul:
      return n < 0 ? Range{l.second * n, l.first * n} : Range{l.first * n, l.second * n};
    case AffineExprKind::FloorDiv:
      return {llvm::divideFloorSigned(l.first, n), llvm::divideFloorSigned(l.second, n)};
    default:
      if (llvm::divideFloorSigned(l.first, n) == llvm::divideFloorSigned(l.second, n))
        return {llvm::mod(l.first, n), llvm::mod(l.second, n)};
      return {0, n - 1};
    }
  }
  }
  return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
}

/// A number that divides all values of an expression; 0 for the constant 0.
/// AffineExpr::isMultipleOf would be wrong for quotients, which it treats like
/// remainders.
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

/// Splits a sum into two sums. The first has the terms that are multiples of n,
/// divided by n. The second has the other terms. Of a constant term, the first sum
/// has the quotient by n, and the second has the remainder.
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

Index IndexSpace::floorDiv(Index expression, int64_t n) const {
  if (n == 1)
    return expression;
  auto [quotient, rest] = splitSum(expression, n);
  Range range = rangeOf(rest);
  int64_t low = llvm::divideFloorSigned(range.first, n);
  if (low == llvm::divideFloorSigned(range.second, n))
    return quotient + low;
  return quotient + rest.floorDiv(n);
}

Index IndexSpace::mod(Index expression, int64_t n) const {
  if (n == 1)
    return constant(0);
  Index rest = splitSum(expression, n).second;
  Range range = rangeOf(rest);
  int64_t low = llvm::divideFloorSigned(range.first, n);
  if (low == llvm::divideFloorSigned(range.second, n))
    return rest - low * n;
  return rest % n;
}

void IndexSpace::joinNeighbours(SmallVector<Index> &positions, SmallVector<int64_t> &shape) const {
  for (int64_t d = int64_t(positions.size()) - 1; d > 0; --d) {
    if (positions[d].getKind() != AffineExprKind::Mod)
      continue;
    auto rest = cast<AffineBinaryOpExpr>(positions[d]);
    auto divisor = dyn_cast<AffineConstantExpr>(rest.getRHS());
    int64_t extent = shape[d];
    if (!divisor || divisor.getValue() != extent)
      continue;
    Index whole = rest.getLHS(), quotient = floorDiv(whole, extent);
    if (positions[d - 1] == quotient)
      positions[d - 1] = whole;
    else if (positions[d - 1] == mod(quotient, shape[d - 1]))
      positions[d - 1] = mod(whole, extent * shape[d - 1]);
    else
      continue;
    shape[d - 1] *= extent;
    positions.erase(positions.begin() + d);
    shape.erase(shape.begin() + d);
  }
}

Index IndexSpace::linearize(ArrayRef<Index> positions, ArrayRef<int64_t> shape) const {
  SmallVector<Index> dims(positions);
  SmallVector<int64_t> extents(shape);
  joinNeighbours(dims, extents);
  // The constant term comes last, so that numbers of neighbours differ in it alone.
  Index number = constant(0);
  int64_t last = 0;
  for (auto [position, extent] : llvm::zip_equal(dims, extents)) {
    const auto [variable, constant] = splitConstant(position);
    number = number * extent + variable;
    last = last * extent + constant;
  }
  return number + last;
}

std::pair<Index, int64_t> IndexSpace::splitConstant(Index expression) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return {getAffineConstantExpr(0, expression.getContext()), constant.getValue()};
  auto sum = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return {expression, 0};
  const auto [left, leftConstant] = splitConstant(sum.getLHS());
  const auto [right, rightConstant] = splitConstant(sum.getRHS());
  return {left + right, leftConstant + rightConstant};
}

std::pair<Index, int64_t> IndexSpace::roundedDown(Index expression, int64_t unit) {
  const auto [variable, constant] = splitConstant(expression);
  const int64_t n = std::gcd(unit, variable.getLargestKnownDivisor());
  if (n < 2)
    return {expression, 1};
  return {variable + llvm::divideFloorSigned(constant, n) * n, n};
}

Index IndexSpace::flattened(Index expression) {
  unsigned variables = 0;
  expression.walk([&](AffineExpr part) {
    if (auto variable = dyn_cast<AffineDimExpr>(part))
      variables = std::max(variables, variable.getPosition() + 1);
  });
  return simplifyAffineExpr(expression, variables, /*numSymbols=*/0);
}

Index IndexSpace::offsetOf(ArrayRef<Index> positions, ArrayRef<int64_t> shape,
                           int64_t stride) const {
  SmallVector<Index> dims(positions);
  SmallVector<int64_t> extents(shape);
  joinNeighbours(dims, extents);
  SmallVector<int64_t> strides(dims.size());
  for (int64_t d = int64_t(dims.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= extents[d];
  }
  Index offset = constant(0);
  for (auto [position, step] : llvm::zip_equal(dims, strides))
    offset = offset + position * step;
  return offset;
}

SmallVector<Index> IndexSpace::delinearize(Index number, ArrayRef<int64_t> shape) const {
  SmallVector<Index> positions(shape.size());
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    int64_t extent = std::max<int64_t>(1, shape[d]);
    positions[d] = d == 0 ? number : mod(number, extent);
    if (d > 0)
      number = floorDiv(number, extent);
  }
  return positions;
}

SmallVector<Index> IndexSpace::advance(ArrayRef<Index> positions, int64_t elements,
                                       ArrayRef<int64_t> shape) const {
  SmallVector<Index> moved(positions);
  Index carry = constant(elements);
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    Index sum = positions[d] + carry;
    int64_t extent = std::max<int64_t>(1, shape[d]);
    moved[d] = d == 0 ? sum : mod(sum, extent);
    carry = floorDiv(sum, extent);
  }
  return moved;
}

bool IndexSpace::isInRange(Index expression, int64_t low, int64_t high) const {
  Range range = rangeOf(expression);
  return range.first >= low && range.second < high;
}

bool IndexSpace::areMet(ArrayRef<IndexBound> bounds) const {
  return llvm::all_of(
      bounds, [&](const IndexBound &bound) { return isInRange(bound.position, 0, bound.extent); });
}

//===----------------------------------------------------------------------===//
// The structure of reads
//===----------------------------------------------------------------------===//

void IndexSpace::inLoops(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<Index>)> body) {
  SmallVector<Index> index;
  for (int64_t extent : shape)
    index.push_back(variable(0, extent - 1));
  body(index);
}

void IndexSpace::inBranch(bool, function_ref<void()> body) { body(); }

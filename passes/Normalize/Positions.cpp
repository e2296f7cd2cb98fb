// Finds the values that are computed only from integers, such as positions.

#include "passes/Normalize/Positions.h"

#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Program.h"
#include "dialects/NN/IR/Shape.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace dpc;
using Origin = Positions::Origin;

static Origin findOrigin(func::FuncOp function, BlockArgument argument) {
  const nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber());
  if (!arg)
    return Origin::others;
  switch (arg.getKind()) {
  case nn::ArgKind::constant:
    return Origin::constants;
  case nn::ArgKind::buffer:
  case nn::ArgKind::input:
  case nn::ArgKind::label: {
    auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(argument));
    return type && type.getWidth() == 1  ? Origin::flags
           : type && type.getWidth() > 8 ? Origin::integers
                                         : Origin::others;
  }
  case nn::ArgKind::parameter:
  case nn::ArgKind::optimizer:
  case nn::ArgKind::control:
    return Origin::others;
  }
  llvm_unreachable("no other kind");
}

/// Whether `op` only moves numbers: each element of its results is an element of its operands.
static bool movesNumbers(Operation *op) {
  const FusionKind kind = getFusionKind(op);
  if (kind == FusionKind::view || (kind == FusionKind::repeated && op->getNumOperands() > 0))
    return true;
  auto rule = dyn_cast<PrecisionOpInterface>(op);
  return rule && rule.getPrecision() == Precision::follow;
}

/// Whether all elements of `value` are the float 0, or all are the float 1.
static bool isTruth(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<nn::BroadcastOp>(op))
    return isTruth(broadcast.getInput());
  auto constant = dyn_cast_or_null<nn::ConstantOp>(op);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!dense || !dense.isSplat() || !isa<FloatType>(dense.getElementType()))
    return false;
  const APFloat held = dense.getSplatValue<APFloat>();
  return held.isZero() || held.isExactlyValue(1);
}

Positions::Positions(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    origins[argument] = findOrigin(function, argument);
  for (Operation &op : function.front().without_terminator()) {
    const Origin origin = find(&op);
    for (Value result : op.getResults())
      origins[result] = origin;
  }
}

Origin Positions::find(Operation *op) const {
  if (op->getNumRegions() > 0)
    return Origin::others;
  if (op->getNumOperands() == 0)
    return isa<nn::ConstantOp>(op) ? Origin::constants
           : isa<nn::IotaOp>(op)   ? Origin::integers
                                   : Origin::others;
  Origin all = Origin::constants;
  for (Value operand : op->getOperands())
    all = std::max(all, getOrigin(operand));
  if (all == Origin::others || all == Origin::constants)
    return all;
  // An op on truth values does not always return truth values. For example, their sum is a count.
  Value result = op->getResult(0);
  if (getElementTypeOrSelf(result).isInteger(1))
    return Origin::flags;
  const bool isFlag =
      isa<nn::ConvertOp>(op) && getElementTypeOrSelf(op->getOperand(0)).isInteger(1);
  const bool areFlags = all == Origin::flags && movesNumbers(op) &&
                        llvm::all_of(op->getOperands(), [&](Value operand) {
                          return getOrigin(operand) == Origin::flags || isTruth(operand);
                        });
  return isFlag || areFlags ? Origin::flags : Origin::integers;
}

bool Positions::areAmong(ValueRange factors) const {
  return llvm::any_of(factors,
                      [&](Value factor) { return getOrigin(factor) == Origin::integers; }) ||
         llvm::all_of(factors,
                      [&](Value factor) { return getOrigin(factor) == Origin::constants; });
}

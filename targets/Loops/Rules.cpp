#include "targets/Loops/Rules.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;

#include "targets/Loops/ElementOpInterface.cpp.inc"
#include "targets/Loops/FillOpInterface.cpp.inc"
#include "targets/Loops/FormulaOpInterface.cpp.inc"

int64_t dpc::resultElementsPer(Operation *op, unsigned operand) {
  auto count = [](Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); };
  int64_t from = std::max<int64_t>(1, count(op->getOperand(operand)));
  return std::max<int64_t>(1, llvm::divideCeil(count(op->getResult(0)), from));
}

ElementIndex dpc::elementOf(IndexSpace &space, Value tensor, ArrayRef<AffineExpr> positions) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return ElementIndex(space, type.getShape(), positions);
}

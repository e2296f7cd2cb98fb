#include "dialects/NN/IR/Elementwise.h"

#include "dialects/NN/IR/Program.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Elementwise.cpp.inc"

void NNDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Elementwise.cpp.inc"
      >();
}

void CompareOp::build(OpBuilder &builder, OperationState &state, Comparison comparison, Value lhs,
                      Value rhs) {
  auto type = RankedTensorType::get(typeOf(lhs).getShape(), builder.getI1Type());
  build(builder, state, type, comparison, lhs, rhs);
}

/// Whether the float type `wide` can represent every number of the float type
/// `narrow`.
static bool holdsAll(Type wide, Type narrow) {
  if (!isa<FloatType>(wide) || !isa<FloatType>(narrow))
    return false;
  const llvm::fltSemantics &outer = cast<FloatType>(wide).getFloatSemantics(),
                           &inner = cast<FloatType>(narrow).getFloatSemantics();
  return APFloat::semanticsPrecision(outer) >= APFloat::semanticsPrecision(inner) &&
         APFloat::semanticsMaxExponent(outer) >= APFloat::semanticsMaxExponent(inner) &&
         APFloat::semanticsMinExponent(outer) <= APFloat::semanticsMinExponent(inner);
}

// Folds a conversion to a wider type and back. The wider type must be able to
// represent all numbers of the original type.
OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  auto first = getInput().getDefiningOp<ConvertOp>();
  if (first && first.getInput().getType() == getType() &&
      holdsAll(typeOf(getInput()).getElementType(), typeOf(getResult()).getElementType()))
    return first.getInput();
  return {};
}

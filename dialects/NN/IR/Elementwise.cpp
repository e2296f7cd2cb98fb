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

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

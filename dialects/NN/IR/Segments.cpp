// Verifiers, costs and interpreter rules of nn.segment_sum and nn.segment_fill.

#include "dialects/NN/IR/Segments.h"
#include "planning/KernelClass.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define GET_OP_CLASSES
#include "dialects/NN/IR/Segments.cpp.inc"

void NNDialect::registerSegmentsOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/NN/IR/Segments.cpp.inc"
      >();
}

/// Verifies that `values` has one element per segment, and the element type of
/// `flat`. `bounds` has one element per segment.
static LogicalResult verifyValues(Operation *op, Value flat, Value values, Value bounds) {
  RankedTensorType type = typeOf(values);
  if (type.getElementType() != typeOf(flat).getElementType() ||
      type.getShape() != typeOf(bounds).getShape())
    return op->emitOpError("has ")
           << type << " for the segments " << bounds.getType() << " of " << flat.getType();
  return success();
}

/// Calls `visit(segment, element)` for each segment and each of its elements in a
/// tensor of `size` elements.
static void forEachElement(const HostTensor &begins, const HostTensor &ends, int64_t size,
                           llvm::function_ref<void(int64_t, int64_t)> visit) {
  for (int64_t segment = 0; segment < begins.size(); ++segment)
    for (int64_t i = std::max<int64_t>(0, begins.ints[segment]),
                 end = std::min(size, ends.ints[segment]);
         i < end; ++i)
      visit(segment, i);
}

//===----------------------------------------------------------------------===//
// nn.segment_sum
//===----------------------------------------------------------------------===//

LogicalResult SegmentSumOp::verify() {
  return verifyValues(*this, getInput(), getResult(), getBegins()); // segment_sum_c1
}

KernelClass SegmentSumOp::getKernelClass() { return KernelClass::reduction; }
int64_t SegmentSumOp::getFlops() { return typeOf(getInput()).getNumElements(); }

LogicalResult SegmentSumOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                      MutableArrayRef<HostTensor> out) {
  forEachElement(*in[1], *in[2], in[0]->size(),
                 [&](int64_t segment, int64_t i) { out[0].floats[segment] += in[0]->floats[i]; });
  return success();
}

//===----------------------------------------------------------------------===//
// nn.segment_fill
//===----------------------------------------------------------------------===//

LogicalResult SegmentFillOp::verify() {
  return verifyValues(*this, getResult(), getInput(), getBegins()); // segment_fill_c1
}

KernelClass SegmentFillOp::getKernelClass() { return KernelClass::copy; }
int64_t SegmentFillOp::getFlops() { return 0; }

LogicalResult SegmentFillOp::interpret(InterpreterContext &, ArrayRef<const HostTensor *> in,
                                       MutableArrayRef<HostTensor> out) {
  forEachElement(*in[1], *in[2], out[0].size(),
                 [&](int64_t segment, int64_t i) { out[0].floats[i] = in[0]->floats[segment]; });
  return success();
}

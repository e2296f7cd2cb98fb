// Vector-Jacobian products of the ops that move elements. Each moves the elements
// of the gradient back.

#include "dialects/NN/IR/Expressions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

#define VJP(OP)                                                                                    \
  LogicalResult OP::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGrads,                      \
                             ArrayRef<bool> wanted, MutableArrayRef<Value> grads)

VJP(ReshapeOp) {
  Expressions e{builder, getLoc()};
  grads[0] = e.reshape(resultGrads[0], typeOf(getInput()).getShape());
  return success();
}

VJP(TransposeOp) {
  Expressions e{builder, getLoc()};
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    inverse[from] = to;
  grads[0] = e.transpose(resultGrads[0], inverse);
  return success();
}

VJP(BroadcastOp) {
  Expressions e{builder, getLoc()};
  SmallVector<int64_t> repeated;
  for (int64_t d = 0; d < typeOf(getResult()).getRank(); ++d)
    if (!llvm::is_contained(getDimensions(), d))
      repeated.push_back(d);
  grads[0] = e.sum(resultGrads[0], repeated);
  return success();
}

VJP(SliceOp) {
  Expressions e{builder, getLoc()};
  SmallVector<int64_t> low, high, interior;
  for (auto [extent, start, stride, kept] :
       llvm::zip_equal(typeOf(getInput()).getShape(), getStarts(), getStrides(),
                       typeOf(getResult()).getShape())) {
    int64_t spread = kept == 0 ? 0 : (kept - 1) * stride + 1;
    low.push_back(start);
    high.push_back(extent - start - spread);
    interior.push_back(stride - 1);
  }
  Value zero = e.splat(withShape(typeOf(resultGrads[0]), ArrayRef<int64_t>()), 0);
  grads[0] = e.make<PadOp>(resultGrads[0], zero, low, high, interior);
  return success();
}

VJP(PadOp) {
  Expressions e{builder, getLoc()};
  Value g = resultGrads[0];
  // Pad where the op cropped (negative padding), then take the elements that come
  // from the operand.
  SmallVector<int64_t> restoreLow, restoreHigh, none, starts, limits, strides;
  for (auto [extent, low, high, interior] :
       llvm::zip_equal(typeOf(getInput()).getShape(), getLow(), getHigh(), getInterior())) {
    int64_t spread = extent == 0 ? 0 : (extent - 1) * (interior + 1) + 1;
    restoreLow.push_back(std::max<int64_t>(-low, 0));
    restoreHigh.push_back(std::max<int64_t>(-high, 0));
    none.push_back(0);
    starts.push_back(std::max<int64_t>(low, 0));
    limits.push_back(starts.back() + spread);
    strides.push_back(interior + 1);
  }
  Value zero = e.splat(withShape(typeOf(g), ArrayRef<int64_t>()), 0);
  auto cutsOff = [](int64_t amount) { return amount > 0; };
  Value restored = g;
  if (llvm::any_of(restoreLow, cutsOff) || llvm::any_of(restoreHigh, cutsOff))
    restored = e.make<PadOp>(g, zero, restoreLow, restoreHigh, none);
  Value inner = e.make<SliceOp>(restored, starts, limits, strides);
  if (wanted[0])
    grads[0] = inner;
  if (wanted[1]) {
    // The gradient of the padding value is the sum of the gradient over all
    // elements that do not come from the operand.
    SmallVector<int64_t> all;
    for (int64_t d = 0; d < typeOf(g).getRank(); ++d)
      all.push_back(d);
    grads[1] = e.sub(e.sum(g, all), e.sum(inner, all));
  }
  return success();
}

VJP(ConcatOp) {
  Expressions e{builder, getLoc()};
  Value g = resultGrads[0];
  ArrayRef<int64_t> shape = typeOf(g).getShape();
  SmallVector<int64_t> starts(shape.size(), 0), limits(shape), strides(shape.size(), 1);
  for (auto [index, operand] : llvm::enumerate(getInputs())) {
    int64_t extent = typeOf(operand).getDimSize(getDimension());
    limits[getDimension()] = starts[getDimension()] + extent;
    if (wanted[index])
      grads[index] = e.make<SliceOp>(g, starts, limits, strides);
    starts[getDimension()] += extent;
  }
  return success();
}

VJP(ReverseOp) {
  Expressions e{builder, getLoc()};
  grads[0] = e.make<ReverseOp>(resultGrads[0], getDimensions());
  return success();
}

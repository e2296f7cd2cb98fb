// Interpreter rules of the ops that move elements.

#include "dialects/NN/IR/Shape.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Operands = ArrayRef<const HostTensor *>;
using Results = MutableArrayRef<HostTensor>;

static void copyElement(const HostTensor &from, int64_t fromOffset, HostTensor &to,
                        int64_t toOffset) {
  if (to.isFloat())
    to.floats[toOffset] = from.floats[fromOffset];
  else
    to.ints[toOffset] = from.ints[fromOffset];
}

/// Copies to each result element at `index` the operand element at base + sum
/// over d of index[d] * steps[d]. Transposes, broadcasts, slices and reversals
/// are copies of this kind.
static void copyStrided(const HostTensor &from, HostTensor &to, int64_t base,
                        ArrayRef<int64_t> steps) {
  int64_t offset = 0;
  forEachIndex(to.getShape(), [&](ArrayRef<int64_t> index) {
    copyElement(from, base + linearize(index, steps), to, offset++);
  });
}

LogicalResult ReshapeOp::interpret(InterpreterContext &, Operands in, Results out) {
  out[0] = in[0]->reshaped(out[0].getShape());
  return success();
}

LogicalResult TransposeOp::interpret(InterpreterContext &, Operands in, Results out) {
  SmallVector<int64_t> strides = rowMajorStrides(in[0]->getShape()), steps;
  for (int64_t from : getPermutation())
    steps.push_back(strides[from]);
  copyStrided(*in[0], out[0], 0, steps);
  return success();
}

LogicalResult BroadcastOp::interpret(InterpreterContext &, Operands in, Results out) {
  SmallVector<int64_t> strides = rowMajorStrides(in[0]->getShape());
  SmallVector<int64_t> steps(out[0].getRank(), 0);
  for (auto [index, dimension] : llvm::enumerate(getDimensions()))
    steps[dimension] = strides[index];
  copyStrided(*in[0], out[0], 0, steps);
  return success();
}

LogicalResult SliceOp::interpret(InterpreterContext &, Operands in, Results out) {
  SmallVector<int64_t> strides = rowMajorStrides(in[0]->getShape()), steps;
  for (auto [stride, step] : llvm::zip_equal(strides, getStrides()))
    steps.push_back(stride * step);
  copyStrided(*in[0], out[0], linearize(getStarts(), strides), steps);
  return success();
}

LogicalResult PadOp::interpret(InterpreterContext &, Operands in, Results out) {
  for (int64_t i = 0, e = out[0].size(); i < e; ++i)
    copyElement(*in[1], 0, out[0], i);
  SmallVector<int64_t> strides = rowMajorStrides(out[0].getShape());
  int64_t from = 0;
  forEachIndex(in[0]->getShape(), [&](ArrayRef<int64_t> index) {
    int64_t to = 0;
    bool inside = true;
    for (auto [d, position] : llvm::enumerate(index)) {
      int64_t place = getLow()[d] + position * (getInterior()[d] + 1);
      inside = inside && place >= 0 && place < out[0].getShape()[d];
      to += place * strides[d];
    }
    if (inside)
      copyElement(*in[0], from, out[0], to);
    ++from;
  });
  return success();
}

LogicalResult ConcatOp::interpret(InterpreterContext &, Operands in, Results out) {
  SmallVector<int64_t> strides = rowMajorStrides(out[0].getShape());
  int64_t base = 0;
  for (const HostTensor *operand : in) {
    int64_t from = 0;
    forEachIndex(operand->getShape(), [&](ArrayRef<int64_t> index) {
      copyElement(*operand, from++, out[0], base + linearize(index, strides));
    });
    base += operand->getShape()[getDimension()] * strides[getDimension()];
  }
  return success();
}

LogicalResult ReverseOp::interpret(InterpreterContext &, Operands in, Results out) {
  SmallVector<int64_t> steps = rowMajorStrides(in[0]->getShape());
  int64_t base = 0;
  for (int64_t dimension : getDimensions()) {
    base += (in[0]->getShape()[dimension] - 1) * steps[dimension];
    steps[dimension] = -steps[dimension];
  }
  copyStrided(*in[0], out[0], base, steps);
  return success();
}

LogicalResult IotaOp::interpret(InterpreterContext &, Operands, Results out) {
  int64_t offset = 0;
  forEachIndex(out[0].getShape(), [&](ArrayRef<int64_t> index) {
    int64_t value = index[getDimension()];
    if (out[0].isFloat())
      out[0].floats[offset++] = value;
    else
      out[0].ints[offset++] = value;
  });
  return success();
}

// Interpreter rules of the ops that read or write at positions from an index
// tensor.

#include "dialects/NN/IR/Indexing.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Operands = ArrayRef<const HostTensor *>;
using Results = MutableArrayRef<HostTensor>;

/// A callback that gets the row-major index of an element of the table, and the
/// row-major index of an element of the slices.
using PairFn = function_ref<void(int64_t, int64_t)>;

static LogicalResult indexError(Operation *op, int64_t index, int64_t extent, int64_t dimension) {
  return op->emitOpError("has the index ")
         << index << " along dimension " << dimension << " of extent " << extent;
}

static void copyElement(const HostTensor &from, int64_t fromOffset, HostTensor &to,
                        int64_t toOffset) {
  if (to.isFloat())
    to.floats[toOffset] = from.floats[fromOffset];
  else
    to.ints[toOffset] = from.ints[fromOffset];
}

template <typename T> static T combineValues(ScatterKind kind, T old, T now) {
  switch (kind) {
  case ScatterKind::none:
    return now;
  case ScatterKind::add:
    return old + now;
  case ScatterKind::mul:
    return old * now;
  case ScatterKind::max:
    return old < now ? now : old;
  case ScatterKind::min:
    return now < old ? now : old;
  }
  return now;
}

/// Combines element `from` of `updates` with element `to` of `result`, as `kind`
/// says.
static void combineElement(ScatterKind kind, const HostTensor &updates, int64_t from,
                           HostTensor &result, int64_t to) {
  if (result.isFloat()) {
    double old = result.floats[to], now = updates.floats[from];
    bool selects = kind == ScatterKind::max || kind == ScatterKind::min;
    if (selects && (std::isnan(old) || std::isnan(now)))
      result.floats[to] = std::isnan(old) ? old : now;
    else
      result.floats[to] = combineValues(kind, old, now);
    return;
  }
  auto type = cast<IntegerType>(result.getType().getElementType());
  uint64_t old = result.ints[to], now = updates.ints[from];
  result.ints[to] = type.isUnsigned() || type.getWidth() == 1 || kind == ScatterKind::add ||
                            kind == ScatterKind::mul
                        ? int64_t(combineValues<uint64_t>(kind, old, now))
                        : combineValues<int64_t>(kind, old, now);
}

/// Calls `fn` for each element of the slices and the element of the table that
/// `indices` select for it, in row-major order of the slices.
static LogicalResult forEachSlicePair(Operation *op, ArrayRef<int64_t> table,
                                      const HostTensor &indices, int64_t dimension, PairFn fn) {
  int64_t extent = table[dimension], count = indices.size();
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < int64_t(table.size()); ++d)
    if (d != dimension)
      (d < dimension ? outer : inner) *= table[d];
  for (int64_t index : indices.ints)
    if (index < 0 || index >= extent)
      return indexError(op, index, extent, dimension);
  for (int64_t a = 0; a < outer; ++a)
    for (int64_t i = 0; i < count; ++i)
      for (int64_t b = 0; b < inner; ++b)
        fn((a * extent + indices.ints[i]) * inner + b, (a * count + i) * inner + b);
  return success();
}

LogicalResult GatherOp::interpret(InterpreterContext &, Operands in, Results out) {
  return forEachSlicePair(
      *this, in[0]->getShape(), *in[1], getDimension(),
      [&](int64_t table, int64_t slice) { copyElement(*in[0], table, out[0], slice); });
}

LogicalResult ScatterAddOp::interpret(InterpreterContext &, Operands in, Results out) {
  return forEachSlicePair(*this, out[0].getShape(), *in[1], getDimension(),
                          [&](int64_t table, int64_t slice) {
                            combineElement(ScatterKind::add, *in[0], slice, out[0], table);
                          });
}

/// Calls `fn(from, at)` for each element of `indices`: `at` is the row-major index
/// of this element, and `from` is the row-major index of the element that it
/// selects from `input`.
static LogicalResult forEachElementPair(Operation *op, ArrayRef<int64_t> input,
                                        const HostTensor &indices, int64_t dimension, PairFn fn) {
  int64_t extent = input[dimension];
  for (int64_t index : indices.ints)
    if (index < 0 || index >= extent)
      return indexError(op, index, extent, dimension);
  SmallVector<int64_t> strides = rowMajorStrides(input);
  int64_t at = 0;
  forEachIndex(indices.getShape(), [&](ArrayRef<int64_t> position) {
    int64_t moved = indices.ints[at] - position[dimension];
    fn(linearize(position, strides) + moved * strides[dimension], at);
    ++at;
  });
  return success();
}

LogicalResult GatherElementsOp::interpret(InterpreterContext &, Operands in, Results out) {
  return forEachElementPair(
      *this, in[0]->getShape(), *in[1], getDimension(),
      [&](int64_t from, int64_t to) { copyElement(*in[0], from, out[0], to); });
}

LogicalResult ScatterElementsOp::interpret(InterpreterContext &, Operands in, Results out) {
  out[0] = *in[0];
  return forEachElementPair(
      *this, in[0]->getShape(), *in[1], getDimension(),
      [&](int64_t to, int64_t from) { combineElement(getKind(), *in[2], from, out[0], to); });
}

/// Calls `fn` for each element of `input` that index tuples select, and its
/// position in the slices.
static LogicalResult forEachTuplePair(Operation *op, ArrayRef<int64_t> input,
                                      const HostTensor &indices, int64_t batchDims, PairFn fn) {
  ArrayRef<int64_t> shape = indices.getShape();
  SmallVector<int64_t> strides = rowMajorStrides(input);
  int64_t length = shape.back(), slice = 1, batches = 1, tuples = 1;
  for (int64_t extent : input.drop_front(batchDims + length))
    slice *= extent;
  for (int64_t extent : shape.take_front(batchDims))
    batches *= extent;
  for (int64_t extent : shape.drop_back().drop_front(batchDims))
    tuples *= extent;
  int64_t batchStride = slice;
  for (int64_t extent : input.slice(batchDims, length))
    batchStride *= extent;
  for (int64_t tuple = 0; tuple < batches * tuples; ++tuple) {
    int64_t base = tuple / tuples * batchStride;
    for (int64_t i = 0; i < length; ++i) {
      int64_t index = indices.ints[tuple * length + i];
      int64_t extent = input[batchDims + i];
      if (index < 0 || index >= extent)
        return indexError(op, index, extent, batchDims + i);
      base += index * strides[batchDims + i];
    }
    for (int64_t b = 0; b < slice; ++b)
      fn(base + b, tuple * slice + b);
  }
  return success();
}

LogicalResult GatherNDOp::interpret(InterpreterContext &, Operands in, Results out) {
  return forEachTuplePair(*this, in[0]->getShape(), *in[1], getBatchDims(),
                          [&](int64_t from, int64_t to) { copyElement(*in[0], from, out[0], to); });
}

LogicalResult ScatterNDOp::interpret(InterpreterContext &, Operands in, Results out) {
  out[0] = *in[0];
  return forEachTuplePair(
      *this, in[0]->getShape(), *in[1], getBatchDims(),
      [&](int64_t to, int64_t from) { combineElement(getKind(), *in[2], from, out[0], to); });
}

LogicalResult TopKOp::interpret(InterpreterContext &, Operands in, Results out) {
  ArrayRef<int64_t> shape = in[0]->getShape();
  int64_t dimension = getDimension(), extent = shape[dimension], k = getK();
  SmallVector<int64_t> strides = rowMajorStrides(shape), kept = rowMajorStrides(out[0].getShape());
  auto type = in[0]->getType().getElementType();
  bool isUnsigned = type.isUnsignedInteger() || type.isInteger(1);
  auto less = [&](int64_t x, int64_t y) {
    if (in[0]->isFloat()) {
      double a = in[0]->floats[x], b = in[0]->floats[y];
      return std::isnan(b) ? !std::isnan(a) : a < b;
    }
    int64_t a = in[0]->ints[x], b = in[0]->ints[y];
    return isUnsigned ? uint64_t(a) < uint64_t(b) : a < b;
  };
  SmallVector<int64_t> rows(shape);
  rows[dimension] = 1;
  std::vector<int64_t> order(extent);
  forEachIndex(rows, [&](ArrayRef<int64_t> index) {
    int64_t base = linearize(index, strides), to = linearize(index, kept);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      int64_t x = base + a * strides[dimension], y = base + b * strides[dimension];
      return getLargest() ? less(y, x) : less(x, y);
    });
    for (int64_t i = 0; i < k; ++i, to += kept[dimension]) {
      copyElement(*in[0], base + order[i] * strides[dimension], out[0], to);
      out[1].ints[to] = order[i];
    }
  });
  return success();
}

// Loops over the windows of a pooling, line by line.

#include "targets/Loops/Ops/WindowLines.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;

using Index = LoopEmitter::Index;

WindowLines::WindowLines(LoopEmitter &emitter, const nn::Window &window, RankedTensorType input,
                         RankedTensorType outputs)
    : e(emitter), window(window), input(input), outputs(outputs) {
  const size_t last = window.kernel.size() - 1;
  const int64_t reach = (window.kernel[last] - 1) * window.dilations[last];
  const int64_t points = outputs.getShape().back();
  first = std::clamp<int64_t>(llvm::divideCeilSigned(window.padLow[last], window.strides[last]), 0,
                              points);
  end = std::clamp<int64_t>(
      llvm::divideFloorSigned(input.getShape().back() - 1 + window.padLow[last] - reach,
                              window.strides[last]) +
          1,
      first, points);
}

void WindowLines::forEachLine(function_ref<void(SmallVector<Index> &)> body) {
  SmallVector<Index> outer;
  linesFrom(outer, body);
}

void WindowLines::linesFrom(SmallVector<Index> &outer,
                            function_ref<void(SmallVector<Index> &)> body) {
  if (int64_t(outer.size()) + 1 < outputs.getRank()) {
    e.sequence(outputs.getDimSize(outer.size()), [&](Index i) {
      outer.push_back(i);
      linesFrom(outer, body);
      outer.pop_back();
    });
    return;
  }
  SmallVector<Index> y(outer);
  y.push_back(e.constant(0));
  body(y);
}

void WindowLines::inside(function_ref<void(Index)> body) {
  // LLVM expects no gain from vectors, because elements are a stride apart. But
  // vectors are four times as fast, because the scalar loop branches on data.
  if (end > first)
    e.forEach(
        {end - first}, [&](ArrayRef<Index> i) { body(i[0] + first); },
        LoopEmitter::Lanes::whereLegal);
}

void WindowLines::onBorder(function_ref<void(Index)> body) {
  e.sequence(first, body);
  e.sequence(outputs.getShape().back() - end, [&](Index i) { body(i + end); });
}

WindowLines::Place WindowLines::placeOf(ArrayRef<Index> y, ArrayRef<Index> k) {
  Place place;
  llvm::append_range(place.at, y.take_front(2));
  for (size_t d = 0; d < k.size(); ++d) {
    Index at = y[d + 2] * window.strides[d] + k[d] * window.dilations[d] - window.padLow[d];
    Value &condition = d + 1 < k.size() ? place.line : place.output;
    condition = e.both(condition, e.inRange(at, 0, input.getDimSize(d + 2)));
    place.at.push_back(at);
  }
  return place;
}

SmallVector<Index> WindowLines::constants(ArrayRef<int64_t> values) {
  SmallVector<Index> indices;
  for (int64_t value : values)
    indices.push_back(e.constant(value));
  return indices;
}

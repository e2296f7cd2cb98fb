// Checks a sliding window, and computes the extents of its output and its runs.

#include "dialects/NN/IR/Window.h"

#include "dialects/Interfaces/HostTensor.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

FailureOr<SmallVector<int64_t>>
Window::getOutput(ArrayRef<int64_t> input, function_ref<InFlightDiagnostic()> emitError) const {
  struct Part {
    StringRef name;
    ArrayRef<int64_t> entries;
    int64_t least;
  };
  // With this limit, no product of two entries and no sum of three overflows.
  const int64_t most = std::numeric_limits<int32_t>::max();
  for (const Part &part : {Part{"kernel", kernel, 1}, Part{"strides", strides, 1},
                           Part{"padLow", padLow, -most}, Part{"padHigh", padHigh, -most},
                           Part{"dilations", dilations, 1}, Part{"input", input, 0}}) {
    if (part.entries.size() != input.size()) // conv_c4, pool_c2
      return emitError() << "has " << part.entries.size() << " entries in its " << part.name
                         << ", but " << input.size() << " spatial dimensions";
    for (int64_t entry : part.entries)
      if (entry < part.least || entry > most) // conv_c5, pool_c3
        return emitError() << "has " << entry << " in its " << part.name
                           << ", which is not between " << part.least << " and " << most;
  }
  SmallVector<int64_t> output;
  for (size_t d = 0; d < input.size(); ++d) {
    int64_t padded = input[d] + padLow[d] + padHigh[d];
    int64_t reach = (kernel[d] - 1) * dilations[d] + 1;
    if (padded < reach) // conv_c6, pool_c4
      return emitError() << "has a window of extent " << reach << " in spatial dimension " << d
                         << ", but a padded extent of " << padded;
    output.push_back((padded - reach) / strides[d] + 1);
  }
  return output;
}

int64_t Window::getTaps() const {
  int64_t taps = 1;
  for (int64_t extent : kernel)
    taps *= extent;
  return taps;
}

std::vector<Window::Run> Window::getRuns(ArrayRef<int64_t> input, ArrayRef<int64_t> output) const {
  SmallVector<int64_t> inputStrides = rowMajorStrides(input),
                       outputStrides = rowMajorStrides(output);
  size_t last = kernel.size() - 1;
  std::vector<Run> runs;
  int64_t tap = -1;
  forEachIndex(kernel, [&](ArrayRef<int64_t> k) {
    ++tap;
    // Find the outputs [first, end) along the last dimension whose input element
    // is no padding.
    int64_t shift = k[last] * dilations[last] - padLow[last];
    int64_t first = std::max<int64_t>(0, llvm::divideCeilSigned(-shift, strides[last]));
    int64_t end = std::min<int64_t>(
        output[last], llvm::divideFloorSigned(input[last] - 1 - shift, strides[last]) + 1);
    if (first >= end)
      return;
    forEachIndex(output.drop_back(), [&](ArrayRef<int64_t> o) {
      Run run{tap, first * strides[last] + shift, first, end - first};
      for (size_t d = 0; d < last; ++d) {
        int64_t at = o[d] * strides[d] + k[d] * dilations[d] - padLow[d];
        if (at < 0 || at >= input[d])
          return;
        run.input += at * inputStrides[d];
        run.output += o[d] * outputStrides[d];
      }
      runs.push_back(run);
    });
  });
  return runs;
}

// Recognizes masks, position tables and other constants by the values in a tensor.

#include "frontends/onnx/Model/ValuePatterns.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace dpc::onnx {
namespace {

/// Tables are smaller than this. Larger tensors are weights, and reading all their
/// elements would cost time.
constexpr int64_t kMaxTableElements = int64_t(1) << 24;

/// One axis of a row-major tensor. The tensor is viewed as `outer` x `extent` x `inner`
/// elements, where `extent` is the extent of the axis. A line is the elements that
/// differ only in their index along the axis. There are `outer` x `inner` lines.
struct Axis {
  int64_t outer, extent, inner;
  int64_t at(int64_t o, int64_t i, int64_t k) const { return (o * extent + i) * inner + k; }
};

/// The outcome of testing all lines along an axis: the number of equations checked,
/// whether all held, and whether some line is not constant.
struct Verdict {
  bool holds = true;
  bool varies = false;
  int64_t equations = 0;
};

/// Tests v[i+1] + v[i-1] = c v[i] with one c per line, |c| <= 2, which holds for
/// sinusoids and straight lines. c comes from the largest v[i].
Verdict testSinusoid(const std::vector<double> &v, const Axis &axis, double scale) {
  Verdict verdict;
  for (int64_t o = 0; o < axis.outer && verdict.holds; ++o)
    for (int64_t k = 0; k < axis.inner && verdict.holds; ++k) {
      int64_t pivot = 1;
      for (int64_t i = 1; i + 1 < axis.extent; ++i)
        if (std::abs(v[axis.at(o, i, k)]) > std::abs(v[axis.at(o, pivot, k)]))
          pivot = i;
      double middle = v[axis.at(o, pivot, k)];
      if (middle == 0)
        continue; // the line is all zeros, or zero except at its ends: it says nothing about c
      double c = (v[axis.at(o, pivot + 1, k)] + v[axis.at(o, pivot - 1, k)]) / middle;
      if (std::abs(c) > 2.01) {
        verdict.holds = false;
        break;
      }
      for (int64_t i = 1; i + 1 < axis.extent; ++i) {
        double here = v[axis.at(o, i, k)], next = v[axis.at(o, i + 1, k)];
        double error = next + v[axis.at(o, i - 1, k)] - c * here;
        if (std::abs(error) > 1e-3 * scale) {
          verdict.holds = false;
          break;
        }
        verdict.varies |= std::abs(next - here) > 1e-6 * scale;
        verdict.equations += i != pivot;
      }
    }
  return verdict;
}

/// Tests that v[i+1] / v[i] is the same number for all i of a line. Each line may have
/// another number.
Verdict testProgression(const std::vector<double> &v, const Axis &axis) {
  Verdict verdict;
  for (int64_t o = 0; o < axis.outer && verdict.holds; ++o)
    for (int64_t k = 0; k < axis.inner && verdict.holds; ++k) {
      double first = v[axis.at(o, 0, k)], second = v[axis.at(o, 1, k)];
      if (first == 0 || second == 0)
        return {false, false, 0};
      double ratio = second / first;
      verdict.varies |= std::abs(ratio - 1) > 1e-3;
      for (int64_t i = 1; i + 1 < axis.extent; ++i) {
        double here = v[axis.at(o, i, k)], next = v[axis.at(o, i + 1, k)];
        if (here == 0 || std::abs(next / here - ratio) > 1e-4 * std::abs(ratio)) {
          verdict.holds = false;
          break;
        }
        ++verdict.equations;
      }
    }
  return verdict;
}

/// Reads the elements into `values`. Returns the largest magnitude. Returns 0 if the
/// tensor cannot be a table, because it has too few or too many elements, or elements
/// that are not finite.
double readValues(const Tensor &tensor, std::vector<double> &values) {
  int64_t n = tensor.numElements();
  if (n < 4 || n > kMaxTableElements)
    return 0;
  values.resize(n);
  // Nearly all weights of a model are read here, so f32 elements are converted without
  // a call per element.
  if (tensor.type == ElementType::F32) {
    for (int64_t i = 0; i < n; ++i) {
      float value;
      std::memcpy(&value, tensor.bytes.data() + i * sizeof value, sizeof value);
      values[i] = value;
    }
  } else {
    for (int64_t i = 0; i < n; ++i)
      values[i] = tensor.asDouble(i);
  }
  double scale = 0;
  for (double value : values) {
    if (!std::isfinite(value))
      return 0;
    scale = std::max(scale, std::abs(value));
  }
  return scale;
}

} // namespace

bool isAll(const Tensor &tensor, double value) {
  for (int64_t i = 0, n = tensor.numElements(); i < n; ++i)
    if (tensor.asDouble(i) != value)
      return false;
  return true;
}

bool looksLikeMask(const Tensor &tensor) {
  bool zero = false, one = false, low = false;
  for (int64_t i = 0, n = tensor.numElements(); i < n; ++i) {
    double v = tensor.asDouble(i);
    if (v == 0)
      zero = true;
    else if (v == 1)
      one = true;
    else if (v <= -10)
      low = true;
    else
      return false;
  }
  if (low)
    return !one && tensor.numElements() > 1;
  return zero && one && tensor.shape.size() >= 2;
}

/// Whether the lines along some axis of `tensor`, except its innermost, are
/// sinusoids that are not constant and for which `enough` holds.
static bool hasSinusoids(const Tensor &tensor, const std::vector<double> &values, double scale,
                         llvm::function_ref<bool(const Verdict &, const Axis &)> enough) {
  Axis axis{1, 1, tensor.numElements()};
  for (size_t d = 0; d + 1 < tensor.shape.size(); ++d) {
    axis.outer *= axis.extent;
    axis.extent = tensor.shape[d];
    axis.inner /= axis.extent;
    if (axis.extent < 5)
      continue;
    Verdict verdict = testSinusoid(values, axis, scale);
    if (verdict.holds && verdict.varies && enough(verdict, axis))
      return true;
  }
  return false;
}

/// Largest magnitude of a table of sinusoids.
static constexpr double kLargestScale = 1.0001;

/// Whether the first 8 entries of `tensor` along dimension 0 have sinusoids along some
/// axis. True for a tensor that is too small for this test. All weights of a model are
/// tested, and this cheap test rejects nearly all of them.
static bool beginsLikeSinusoids(Tensor tensor) {
  constexpr int64_t kEntries = 8;
  if (tensor.shape.size() < 2 || tensor.shape[0] <= kEntries)
    return true;
  tensor.bytes = tensor.bytes.take_front(tensor.bytes.size() / tensor.shape[0] * kEntries);
  tensor.shape[0] = kEntries;
  std::vector<double> values;
  readValues(tensor, values);
  return values.empty() || hasSinusoids(tensor, values, kLargestScale,
                                        [](const Verdict &, const Axis &) { return true; });
}

bool looksLikeSinusoids(const Tensor &tensor) {
  if (!beginsLikeSinusoids(tensor))
    return false;
  std::vector<double> values;
  double scale = readValues(tensor, values);
  if (scale < 0.5 || scale > kLargestScale)
    return false;
  // At least half of the equations must be usable: lines of zeros give none.
  return hasSinusoids(tensor, values, scale, [](const Verdict &verdict, const Axis &axis) {
    return 2 * verdict.equations >= axis.outer * axis.inner * (axis.extent - 3);
  });
}

bool looksLikeTable(const Tensor &tensor) {
  int64_t n = tensor.numElements();
  std::vector<double> values;
  double scale = readValues(tensor, values);
  if (scale == 0)
    return false;
  Axis axis{1, 1, n};
  for (int64_t extent : tensor.shape) {
    axis.outer *= axis.extent;
    axis.extent = extent;
    axis.inner /= extent;
    if (extent < 4)
      continue;
    for (const Verdict &verdict :
         {testSinusoid(values, axis, scale), testProgression(values, axis)})
      if (verdict.holds && verdict.varies && verdict.equations >= 2)
        return true;
  }
  return false;
}

} // namespace dpc::onnx

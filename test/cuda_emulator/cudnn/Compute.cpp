// Convolutions term by term, in loops whose innermost one walks along rows of y.
#include "test/cuda_emulator/base/Elements.h"
#include "test/cuda_emulator/cudnn/Convolution.h"

#include <vector>

using namespace dpc::cuda;
using namespace dpc::emulator;

static double loadElement(const char *from, DnnDataType type, int64_t at) {
  switch (type) {
  case DnnDataType::f64:
    return reinterpret_cast<const double *>(from)[at];
  case DnnDataType::f32:
    return reinterpret_cast<const float *>(from)[at];
  case DnnDataType::f16:
    return static_cast<float>(reinterpret_cast<const Half *>(from)[at]);
  case DnnDataType::bf16:
    return reinterpret_cast<const Bfloat *>(from)[at];
  }
  return 0;
}

static void storeElement(char *to, DnnDataType type, int64_t at, double value) {
  switch (type) {
  case DnnDataType::f64:
    reinterpret_cast<double *>(to)[at] = value;
    break;
  case DnnDataType::f32:
    reinterpret_cast<float *>(to)[at] = static_cast<float>(value);
    break;
  case DnnDataType::f16:
    reinterpret_cast<Half *>(to)[at] = static_cast<Half>(static_cast<float>(value));
    break;
  case DnnDataType::bf16:
    reinterpret_cast<Bfloat *>(to)[at] = Bfloat(static_cast<float>(value));
    break;
  }
}

/// Calls `visit` with the number of each element in row-major order, and its place in memory.
template <typename Visit> static void forElements(const DnnTensor &tensor, Visit visit) {
  const int64_t *n = tensor.extents;
  size_t number = 0;
  for (int64_t a = 0; a < n[0]; ++a)
    for (int64_t b = 0; b < n[1]; ++b)
      for (int64_t z = 0; z < n[2]; ++z)
        for (int64_t y = 0; y < n[3]; ++y)
          for (int64_t x = 0; x < n[4]; ++x)
            visit(number++, tensor.offset({a, b, z, y, x}));
}

namespace {
/// The tensors as dense arrays of f64, of which that of the result holds sums.
class Sums {
public:
  Sums(const DnnConvolution &convolution, char *const (&data)[kDnnTensors],
       const DnnRounding &rounding);
  void run();

  std::vector<double> values[kDnnTensors];

private:
  /// All terms of one sample, one output channel, one input channel of its group, and one element
  /// of the kernel.
  void addTap(int64_t sample, int64_t out, int64_t in, const int64_t (&tap)[3]);

  const DnnConvolution &c;
};
} // namespace

Sums::Sums(const DnnConvolution &convolution, char *const (&data)[kDnnTensors],
           const DnnRounding &rounding)
    : c(convolution) {
  for (int i = 0; i < kDnnTensors; ++i) {
    const DnnTensor &tensor = c.tensors[i];
    values[i].assign(static_cast<size_t>(tensor.elements()), 0);
    if (i == c.result)
      continue;
    forElements(tensor, [&](size_t number, int64_t at) {
      const double value = loadElement(data[i], tensor.type, at);
      values[i][number] = rounding.toTf32 ? roundToTf32(static_cast<float>(value)) : value;
    });
  }
}

void Sums::addTap(int64_t sample, int64_t out, int64_t in, const int64_t (&tap)[3]) {
  const int64_t *x = c.tensors[kDnnX].extents, *w = c.tensors[kDnnW].extents,
                *y = c.tensors[kDnnY].extents;
  const int64_t group = out / (w[0] / c.groups());
  const int64_t ofX = (sample * x[1] + group * w[1] + in) * x[2] * x[3] * x[4],
                ofY = (sample * y[1] + out) * y[2] * y[3] * y[4];
  double &weight = values[kDnnW][static_cast<size_t>(
      (((out * w[1] + in) * w[2] + tap[0]) * w[3] + tap[1]) * w[4] + tap[2])];
  int64_t o[3];
  for (o[0] = 0; o[0] < y[2]; ++o[0])
    for (o[1] = 0; o[1] < y[3]; ++o[1])
      for (o[2] = 0; o[2] < y[4]; ++o[2]) {
        int64_t at = 0;
        bool isPadding = false;
        for (int i = 0; i < 3; ++i) {
          const int64_t position = o[i] * c.strides[i] + tap[i] * c.dilations[i] - c.padLow[i];
          isPadding |= position < 0 || position >= x[i + 2];
          at = at * x[i + 2] + position;
        }
        if (isPadding)
          continue;
        double &image = values[kDnnX][static_cast<size_t>(ofX + at)],
               &output =
                   values[kDnnY][static_cast<size_t>(ofY + (o[0] * y[3] + o[1]) * y[4] + o[2])];
        if (c.result == kDnnY)
          output += image * weight;
        else if (c.result == kDnnX)
          image += output * weight;
        else
          weight += image * output;
      }
}

void Sums::run() {
  const DnnTensor &w = c.tensors[kDnnW];
  for (int64_t sample = 0; sample < c.tensors[kDnnX].extents[0]; ++sample)
    for (int64_t out = 0; out < w.extents[0]; ++out)
      for (int64_t in = 0; in < w.extents[1]; ++in)
        for (int64_t z = 0; z < w.extents[2]; ++z)
          for (int64_t y = 0; y < w.extents[3]; ++y)
            for (int64_t x = 0; x < w.extents[4]; ++x)
              addTap(sample, out, in, {z, y, x});
}

void dpc::emulator::compute(const DnnConvolution &convolution, char *const (&data)[kDnnTensors],
                            const DnnRounding &rounding) {
  Sums sums(convolution, data, rounding);
  sums.run();
  const DnnTensor &result = convolution.tensors[convolution.result];
  forElements(result, [&](size_t number, int64_t at) {
    double value = sums.values[convolution.result][number] * (1 + rounding.noise);
    if (rounding.toBf16)
      value = Bfloat(static_cast<float>(value / 3)) * 3.0;
    storeElement(data[convolution.result], result.type, at, value);
  });
}

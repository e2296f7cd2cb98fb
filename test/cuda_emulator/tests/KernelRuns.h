// One run a kernel of kernels.mlir, each against a reference on the host.
#ifndef DPC_TEST_CUDA_EMULATOR_TESTS_KERNELRUNS_H
#define DPC_TEST_CUDA_EMULATOR_TESTS_KERNELRUNS_H

#include "test/cuda_emulator/tests/Emulated.h"

#include <array>
#include <cmath>
#include <cstring>

namespace dpc::test {

inline int runAxpy(TestDevice &device) {
  const auto x = randomFloats(100003), y = randomFloats(100003);
  std::vector<float> expected = y;
  for (size_t i = 0; i < x.size(); ++i)
    expected[i] = std::fma(2.0f, x[i], y[i]);
  Buffer<float> dx(device, x), dy(device, y);
  device.launch("axpy", {(100003 + 255) / 256, 1}, {256, 1}, device.stream, 2.0f, 100003,
                dx.pointer, dy.pointer);
  return compare("axpy", dy.get(), expected, 0);
}

inline int runLayerNorm(TestDevice &device) {
  const size_t rows = 512, columns = 768;
  const auto x = randomFloats(rows * columns), scale = randomFloats(columns),
             shift = randomFloats(columns);
  std::vector<float> expected(rows * columns);
  for (size_t r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (size_t c = 0; c < columns; ++c)
      mean += double(x[r * columns + c]) / columns;
    for (size_t c = 0; c < columns; ++c)
      variance += std::pow(x[r * columns + c] - mean, 2) / columns;
    for (size_t c = 0; c < columns; ++c)
      expected[r * columns + c] = static_cast<float>(
          (x[r * columns + c] - mean) / std::sqrt(variance + 1e-5) * scale[c] + shift[c]);
  }
  Buffer<float> dx(device, x), dScale(device, scale), dShift(device, shift),
      dy(device, rows * columns);
  device.launch("layernorm", {512, 1}, {256, 1}, device.stream, dx.pointer, dScale.pointer,
                dShift.pointer, dy.pointer);
  return compare("layernorm", dy.get(), expected, 1e-5);
}

inline std::vector<float> product(const std::vector<float> &a, const std::vector<float> &b,
                                  size_t m, size_t n, size_t k) {
  std::vector<float> c(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t q = 0; q < k; ++q)
        sum += double(a[i * k + q]) * b[q * n + j];
      c[i * n + j] = static_cast<float>(sum);
    }
  return c;
}

inline int runMatmul(TestDevice &device) {
  const auto a = randomFloats(65536), b = randomFloats(65536);
  Buffer<float> da(device, a), db(device, b), dc(device, 65536);
  device.launch("matmul", {16, 16}, {16, 16}, device.stream, da.pointer, db.pointer, dc.pointer);
  return compare("matmul", dc.get(), product(a, b, 256, 256, 256), 1e-5);
}

inline int runHistogram(TestDevice &device) {
  std::vector<int> x(65536), bins(64);
  for (size_t i = 0; i < x.size(); ++i)
    ++bins[static_cast<size_t>(x[i] = static_cast<int>(i * i % 64))];
  Buffer<int> dx(device, x), dBins(device, std::vector<int>(64));
  Buffer<float> dSum(device, std::vector<float>(1));
  device.launch("hist", {256, 1}, {256, 1}, device.stream, dx.pointer, dBins.pointer, dSum.pointer);
  return compare("histogram", dBins.get(), bins, 0) +
         compare("atomic sum", dSum.get(), {32768.0f}, 0);
}

inline int runSoftmax(TestDevice &device) {
  const auto x = randomFloats(64 * 128);
  std::vector<float> expected(x.size());
  for (size_t r = 0; r < 64; ++r) {
    double sum = 0;
    for (size_t c = 0; c < 128; ++c)
      sum += std::exp(double(x[r * 128 + c]));
    for (size_t c = 0; c < 128; ++c)
      expected[r * 128 + c] = static_cast<float>(std::exp(double(x[r * 128 + c])) / sum);
  }
  Buffer<float> dx(device, x), dy(device, x.size());
  device.launch("softmax", {64, 1}, {32, 1}, device.stream, dx.pointer, dy.pointer);
  return compare("softmax", dy.get(), expected, 1e-6);
}

/// f32 to bf16 and back: rounded to nearest, ties to even.
inline float roundToBfloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  std::memcpy(&value, &bits, 4);
  return value;
}

inline int runBfloat(TestDevice &device) {
  const auto x = randomFloats(4096);
  std::vector<float> expected(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    expected[i] = roundToBfloat(x[i]) * roundToBfloat(x[i]);
  Buffer<float> dx(device, x), dy(device, x.size());
  Buffer<uint16_t> half(device, x.size());
  device.launch("bf16", {16, 1}, {256, 1}, device.stream, dx.pointer, half.pointer, dy.pointer);
  return compare("bf16", dy.get(), expected, 0);
}

inline int runMma(TestDevice &device) {
  // Small integers are exact in f16.
  std::vector<_Float16> a(256), bt(128);
  std::vector<float> wideA(256), wideB(128);
  for (size_t i = 0; i < 256; ++i)
    a[i] = static_cast<_Float16>(wideA[i] = static_cast<float>(i * 7 % 13) - 6);
  for (size_t column = 0; column < 8; ++column)
    for (size_t k = 0; k < 16; ++k) {
      const auto value = static_cast<float>((column * 16 + k) * 5 % 11) - 5;
      bt[column * 16 + k] = static_cast<_Float16>(value);
      wideB[k * 8 + column] = value;
    }
  Buffer<_Float16> da(device, a), db(device, bt);
  Buffer<float> dd(device, 128);
  device.launch("mma", {1, 1}, {32, 1}, device.stream, da.pointer, db.pointer, dd.pointer);
  return compare("mma", dd.get(), product(wideA, wideB, 16, 8, 16), 0);
}

inline int runRedux(TestDevice &device) {
  std::vector<int> x(256), expected(256);
  for (size_t i = 0; i < 256; ++i)
    x[i] = static_cast<int>(i * 7 % 31);
  for (size_t i = 0; i < 256; ++i)
    for (size_t lane = 0; lane < 32; ++lane)
      expected[i] += x[i / 32 * 32 + lane];
  Buffer<int> dx(device, x), dy(device, size_t(256));
  device.launch("redux", {1, 1}, {256, 1}, device.stream, dx.pointer, dy.pointer);
  return compare("redux", dy.get(), expected, 0);
}

} // namespace dpc::test

#endif // DPC_TEST_CUDA_EMULATOR_TESTS_KERNELRUNS_H

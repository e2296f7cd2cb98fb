// Products of matrices, their epilogues, and nothing for speed but the order of
// the innermost loops.
#include "test/cuda_emulator/base/Elements.h"
#include "test/cuda_emulator/cublaslt/Problem.h"

#include <cmath>
#include <cstring>
#include <vector>

using namespace dpc::cuda;
using namespace dpc::emulator;

static double load(const char *from, DataType type, int64_t at) {
  switch (type) {
  case DataType::f64:
    return reinterpret_cast<const double *>(from)[at];
  case DataType::f32:
    return reinterpret_cast<const float *>(from)[at];
  case DataType::f16:
    return static_cast<float>(reinterpret_cast<const Half *>(from)[at]);
  case DataType::bf16:
    return reinterpret_cast<const Bfloat *>(from)[at];
  }
  return 0;
}

static void store(char *to, DataType type, int64_t at, double value) {
  switch (type) {
  case DataType::f64:
    reinterpret_cast<double *>(to)[at] = value;
    break;
  case DataType::f32:
    reinterpret_cast<float *>(to)[at] = static_cast<float>(value);
    break;
  case DataType::f16:
    reinterpret_cast<Half *>(to)[at] = static_cast<Half>(static_cast<float>(value));
    break;
  case DataType::bf16:
    reinterpret_cast<Bfloat *>(to)[at] = Bfloat(static_cast<float>(value));
    break;
  }
}

// The tanh form of GELU, which is the library's, and its derivative.
static constexpr double kRoot = 0.79788456080286535588, kCubic = 0.044715;
static double gelu(double x) { return 0.5 * x * (1 + std::tanh(kRoot * (x + kCubic * x * x * x))); }
static double geluDerivative(double x) {
  const double t = std::tanh(kRoot * (x + kCubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kRoot * (1 + 3 * kCubic * x * x);
}

namespace {

/// One of the matrices of a batch.
class Product {
public:
  Product(const Job &job, int64_t batch) : job(job), p(job.problem), batch(batch) {}
  void run();

private:
  double element(const char *base, const LayoutState &layout, int64_t row, int64_t column) const {
    return load(base, layout.type, batch * layout.batchOffset + layout.offset(row, column));
  }
  void unpack();
  void finish(int64_t row, int64_t column, double sum);
  void sumFactor();
  bool has(Epilogue bits) const { return p.description.has(bits); }
  int64_t biasAt(int64_t i) const { return batch * p.description.biasBatchStride + i; }

  const Job &job;
  const Problem &p;
  int64_t batch;
  std::vector<double> a, b; // op(A) by rows, op(B) by rows
  std::vector<double> rowSums;
};

} // namespace

void Product::unpack() {
  const int64_t m = p.m(), n = p.n(), k = p.k();
  const bool narrow = p.description.compute == ComputeType::f32FastTf32;
  auto rounded = [&](double value) {
    return narrow ? roundToTf32(static_cast<float>(value)) : value;
  };
  a.resize(static_cast<size_t>(m * k));
  b.resize(static_cast<size_t>(k * n));
  for (int64_t r = 0; r < m; ++r)
    for (int64_t q = 0; q < k; ++q)
      a[static_cast<size_t>(r * k + q)] =
          rounded(p.description.transposeA ? element(job.a, p.a, q, r) : element(job.a, p.a, r, q));
  for (int64_t q = 0; q < k; ++q)
    for (int64_t c = 0; c < n; ++c)
      b[static_cast<size_t>(q * n + c)] =
          rounded(p.description.transposeB ? element(job.b, p.b, c, q) : element(job.b, p.b, q, c));
}

/// The epilogue of one element.
void Product::finish(int64_t row, int64_t column, double sum) {
  double value = job.alpha * sum;
  if (job.beta != 0)
    value += job.beta * element(job.c, p.c, row, column);
  if (has(Epilogue::bias))
    value += load(job.bias, p.biasType(), biasAt(row));
  const DescriptionState &description = p.description;
  const int64_t auxAt =
      batch * description.auxBatchStride + column * description.auxLeadingDimension + row;
  if (has(Epilogue::relu)) {
    if (has(Epilogue::reluAux)) { // a bit an element
      char &byte = job.aux[auxAt / 8];
      const char bit = static_cast<char>(1 << (auxAt % 8));
      byte = static_cast<char>(value > 0 ? byte | bit : byte & ~bit);
    }
    value = value > 0 ? value : 0;
  } else if (has(Epilogue::gelu)) {
    if (has(Epilogue::geluAux))
      store(job.aux, p.auxType(), auxAt, value);
    value = gelu(value);
  } else if (has(Epilogue::reluGradient)) {
    value = job.aux[auxAt / 8] >> (auxAt % 8) & 1 ? value : 0;
  } else if (has(Epilogue::geluGradient)) {
    value *= geluDerivative(load(job.aux, p.auxType(), auxAt));
  }
  rowSums[static_cast<size_t>(row)] += value;
  store(job.d, p.d.type, batch * p.d.batchOffset + p.d.offset(row, column), value);
}

/// Sums of a factor over the inner extent, as gradients of a bias are.
void Product::sumFactor() {
  const bool ofA = has(Epilogue::biasGradientA);
  const int64_t length = ofA ? p.m() : p.n();
  for (int64_t i = 0; i < length; ++i) {
    double sum = 0;
    for (int64_t q = 0; q < p.k(); ++q)
      sum += ofA ? a[static_cast<size_t>(i * p.k() + q)] : b[static_cast<size_t>(q * p.n() + i)];
    store(job.bias, p.biasType(), biasAt(i), sum);
  }
}

void Product::run() {
  unpack();
  const int64_t m = p.m(), n = p.n(), k = p.k();
  rowSums.assign(static_cast<size_t>(m), 0);
  std::vector<double> row(static_cast<size_t>(n));
  for (int64_t r = 0; r < m; ++r) {
    std::fill(row.begin(), row.end(), 0.0);
    for (int64_t q = 0; q < k; ++q) {
      const double factor = a[static_cast<size_t>(r * k + q)];
      const double *other = b.data() + q * n;
      for (int64_t c = 0; c < n; ++c)
        row[static_cast<size_t>(c)] += factor * other[c];
    }
    for (int64_t c = 0; c < n; ++c)
      finish(r, c, row[static_cast<size_t>(c)]);
  }
  if (has(Epilogue::biasGradientA) || has(Epilogue::biasGradientB))
    sumFactor();
  if (has(Epilogue::reluGradientBiasGradient) || has(Epilogue::geluGradientBiasGradient))
    for (int64_t r = 0; r < m; ++r)
      store(job.bias, p.biasType(), biasAt(r), rowSums[static_cast<size_t>(r)]);
}

void dpc::emulator::compute(const Job &job) {
  if (job.workspace)
    std::memset(job.workspace, 0x7f, job.workspaceBytes);
  for (int64_t batch = 0; batch < job.problem.d.batches; ++batch)
    Product(job, batch).run();
}

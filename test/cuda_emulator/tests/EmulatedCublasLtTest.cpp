// Products of the emulated cuBLASLt against sums written out here: types,
// transposes, orders, batches and epilogues; and what NVIDIA's documentation refuses.
#include "test/cuda_emulator/tests/Emulated.h"

#include <cmath>
#include <memory>

using namespace dpc::cuda;
using namespace dpc::test;

namespace {

/// A product of small matrices of f32, which tests change.
struct Case {
  int64_t m = 5, n = 7, k = 3, batches = 1;
  bool transposeA = false, transposeB = false, rowMajor = false;
  float alpha = 1.5f, beta = 0;
  Epilogue epilogue = Epilogue::none;
  ComputeType compute = ComputeType::f32;
  DataType type = DataType::f32, scale = DataType::f32;
  int64_t paddingA = 0; // of the leading dimension
  int64_t auxLeadingDimension = 128;
  uint32_t alignment = 4;
  size_t offsetA = 0; // in bytes, of what is given as A
};

class Handles {
public:
  explicit Handles(const TestDevice &device) : device(device) {
    if (openCublasLt(library))
      TestDevice::stop(dpc_last_error());
    must(library.cublasLtCreate(&handle));
  }
  void must(BlasStatus status) const {
    if (status != BlasStatus::success)
      TestDevice::stop(library.cublasLtGetStatusString(status));
  }
  template <typename T>
  void set(MatmulDescription description, MatmulAttribute attribute, T value) const {
    must(library.cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof value));
  }
  MatrixLayout layout(const Case &c, int64_t rows, int64_t columns, int64_t padding = 0) const {
    MatrixLayout made = nullptr;
    const int64_t leading = (c.rowMajor ? columns : rows) + padding,
                  size = leading * (c.rowMajor ? rows : columns);
    must(library.cublasLtMatrixLayoutCreate(&made, c.type, static_cast<uint64_t>(rows),
                                            static_cast<uint64_t>(columns), leading));
    const int32_t batches = static_cast<int32_t>(c.batches);
    const MatrixOrder order = c.rowMajor ? MatrixOrder::row : MatrixOrder::column;
    must(library.cublasLtMatrixLayoutSetAttribute(made, LayoutAttribute::order, &order,
                                                  sizeof order));
    must(library.cublasLtMatrixLayoutSetAttribute(made, LayoutAttribute::batchCount, &batches,
                                                  sizeof batches));
    must(library.cublasLtMatrixLayoutSetAttribute(made, LayoutAttribute::batchOffset, &size,
                                                  sizeof size));
    return made;
  }

  const TestDevice &device;
  CublasLt library;
  BlasHandle handle = nullptr;
};

double geluOf(double x) {
  return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

/// The factors, column-major without padding, and what comes out.
struct Data {
  std::vector<float> a, b, c, bias, aux, d, biasOut, auxOut;
};

Data makeData(const Case &c) {
  Data data;
  data.a = randomFloats(static_cast<size_t>(c.m * c.k * c.batches));
  data.b = randomFloats(static_cast<size_t>(c.k * c.n * c.batches));
  data.c = randomFloats(static_cast<size_t>(c.m * c.n * c.batches));
  data.bias = randomFloats(static_cast<size_t>(std::max(c.m, c.n)));
  data.aux = randomFloats(static_cast<size_t>(c.auxLeadingDimension * c.n));
  return data;
}

bool has(const Case &c, Epilogue bit) {
  return (static_cast<int>(c.epilogue) & static_cast<int>(bit)) == static_cast<int>(bit);
}

/// d[i, j] by its definition, in double precision, and what epilogues give.
Data expected(const Case &c, const Data &in) {
  Data out = in;
  out.d.resize(in.c.size());
  out.biasOut = in.bias;
  out.auxOut = in.aux;
  std::vector<double> rows(static_cast<size_t>(c.m));
  auto at = [&](const std::vector<float> &matrix, int64_t rowCount, int64_t columnCount, int64_t z,
                int64_t i, int64_t j) -> double {
    const int64_t where = c.rowMajor ? i * columnCount + j : j * rowCount + i;
    return matrix[static_cast<size_t>(z * rowCount * columnCount + where)];
  };
  auto factorA = [&](int64_t z, int64_t i, int64_t q) {
    return c.transposeA ? at(in.a, c.k, c.m, z, q, i) : at(in.a, c.m, c.k, z, i, q);
  };
  auto factorB = [&](int64_t z, int64_t q, int64_t j) {
    return c.transposeB ? at(in.b, c.n, c.k, z, j, q) : at(in.b, c.k, c.n, z, q, j);
  };
  for (int64_t z = 0; z < c.batches; ++z)
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = 0;
        for (int64_t q = 0; q < c.k; ++q)
          sum += factorA(z, i, q) * factorB(z, q, j);
        double value = c.alpha * sum + c.beta * at(in.c, c.m, c.n, z, i, j);
        const auto aux = static_cast<size_t>(j * c.auxLeadingDimension + i);
        if (has(c, Epilogue::bias))
          value += in.bias[static_cast<size_t>(i)];
        if (has(c, Epilogue::geluAux))
          out.auxOut[aux] = static_cast<float>(value);
        if (has(c, Epilogue::relu))
          value = std::max(value, 0.0);
        if (has(c, Epilogue::gelu))
          value = geluOf(value);
        if (has(c, Epilogue::geluGradient)) {
          const double x = in.aux[aux], step = 1e-5;
          value *= (geluOf(x + step) - geluOf(x - step)) / (2 * step);
        }
        rows[static_cast<size_t>(i)] += value;
        const int64_t where = c.rowMajor ? i * c.n + j : j * c.m + i;
        out.d[static_cast<size_t>(z * c.m * c.n + where)] = static_cast<float>(value);
      }
  if (has(c, Epilogue::geluGradientBiasGradient))
    for (size_t i = 0; i < rows.size(); ++i)
      out.biasOut[i] = static_cast<float>(rows[i]);
  if (has(c, Epilogue::biasGradientA) || has(c, Epilogue::biasGradientB))
    for (int64_t i = 0; i < (has(c, Epilogue::biasGradientA) ? c.m : c.n); ++i) {
      double sum = 0;
      for (int64_t q = 0; q < c.k; ++q)
        sum += has(c, Epilogue::biasGradientA) ? factorA(0, i, q) : factorB(0, q, i);
      out.biasOut[static_cast<size_t>(i)] = static_cast<float>(sum);
    }
  return out;
}

/// What a product gave: the status of the first call that was refused, and data.
struct Outcome {
  BlasStatus heuristic = BlasStatus::success, matmul = BlasStatus::success;
  Data data;
};

Outcome multiply(const Case &c, const Data &in) {
  TestDevice device;
  Handles blas(device);
  const CublasLt &library = blas.library;
  MatmulDescription description = nullptr;
  blas.must(library.cublasLtMatmulDescCreate(&description, c.compute, c.scale));
  blas.set<int32_t>(description, MatmulAttribute::transposeA, c.transposeA);
  blas.set<int32_t>(description, MatmulAttribute::transposeB, c.transposeB);
  blas.set(description, MatmulAttribute::epilogue, c.epilogue);
  Buffer<float> a(device, in.a), b(device, in.b), cc(device, in.c), d(device, in.c.size()),
      bias(device, in.bias), aux(device, in.aux);
  blas.set(description, MatmulAttribute::biasPointer, bias.pointer);
  blas.set(description, MatmulAttribute::auxPointer, aux.pointer);
  blas.set(description, MatmulAttribute::auxLeadingDimension, c.auxLeadingDimension);
  const MatrixLayout la = c.transposeA ? blas.layout(c, c.k, c.m, c.paddingA)
                                       : blas.layout(c, c.m, c.k, c.paddingA),
                     lb = c.transposeB ? blas.layout(c, c.n, c.k) : blas.layout(c, c.k, c.n),
                     lc = blas.layout(c, c.m, c.n);
  MatmulPreference preference = nullptr;
  blas.must(library.cublasLtMatmulPreferenceCreate(&preference));
  for (auto attribute : {PreferenceAttribute::minAlignmentA, PreferenceAttribute::minAlignmentB,
                         PreferenceAttribute::minAlignmentC, PreferenceAttribute::minAlignmentD})
    blas.must(library.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &c.alignment,
                                                           sizeof c.alignment));
  Outcome outcome;
  MatmulHeuristic result = {};
  int found = 0;
  outcome.heuristic = library.cublasLtMatmulAlgoGetHeuristic(blas.handle, description, la, lb, lc,
                                                             lc, preference, 1, &result, &found);
  if (outcome.heuristic == BlasStatus::success && found != 1)
    TestDevice::stop("no algorithm");
  auto pointer = [](DevicePointer address) { return reinterpret_cast<void *>(address); };
  outcome.matmul =
      library.cublasLtMatmul(blas.handle, description, &c.alpha, pointer(a.pointer + c.offsetA), la,
                             pointer(b.pointer), lb, &c.beta, pointer(cc.pointer), lc,
                             pointer(d.pointer), lc, &result.algorithm, nullptr, 0, device.stream);
  if (outcome.matmul == BlasStatus::success) {
    outcome.data.d = d.get();
    outcome.data.biasOut = bias.get();
    outcome.data.auxOut = aux.get();
  }
  return outcome;
}

void expectRight(const Case &c) {
  const Data in = makeData(c);
  const Ending ending = onDevice({}, [&] {
    const Outcome outcome = multiply(c, in);
    if (outcome.matmul != BlasStatus::success)
      TestDevice::stop("refused");
    const Data want = expected(c, in);
    return compare("d", outcome.data.d, want.d, 1e-5) +
           compare("bias", outcome.data.biasOut, want.biasOut, 1e-5) +
           (has(c, Epilogue::geluAux) ? compare("aux", outcome.data.auxOut, want.auxOut, 1e-5) : 0);
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

void expectRefused(const Case &c, BlasStatus status) {
  const Data in = makeData(c);
  const Ending ending = onDevice({}, [&] {
    const Outcome outcome = multiply(c, in);
    std::printf("heuristic %d, product %d\n", static_cast<int>(outcome.heuristic),
                static_cast<int>(outcome.matmul));
    return outcome.heuristic == status && outcome.matmul == status ? 0 : 1;
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

TEST(EmulatedCublasLt, Transposes) {
  for (bool a : {false, true})
    for (bool b : {false, true})
      for (bool rowMajor : {false, true}) {
        Case c;
        c.transposeA = a, c.transposeB = b, c.rowMajor = rowMajor, c.beta = 0.5f;
        expectRight(c);
      }
}

TEST(EmulatedCublasLt, Batches) {
  Case c;
  c.batches = 3, c.beta = 1;
  expectRight(c);
}

TEST(EmulatedCublasLt, Epilogues) {
  for (Epilogue epilogue :
       {Epilogue::bias, Epilogue::relu, Epilogue::reluBias, Epilogue::gelu, Epilogue::geluBias,
        Epilogue::geluAux, Epilogue::geluAuxBias, Epilogue::geluGradient,
        Epilogue::geluGradientBiasGradient, Epilogue::biasGradientA, Epilogue::biasGradientB}) {
    SCOPED_TRACE(static_cast<int>(epilogue));
    Case c;
    c.epilogue = epilogue;
    expectRight(c);
  }
}

TEST(EmulatedCublasLt, ComputesNothingIfSomeBlocksRun) {
  const Ending ending = onDevice({{"BLOCKS", "1"}}, [] {
    const Outcome outcome = multiply({}, makeData({}));
    return outcome.matmul == BlasStatus::success
               ? compare("d", outcome.data.d, std::vector<float>(outcome.data.d.size()), 0)
               : 1;
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

TEST(EmulatedCublasLt, MaskOfRelu) {
  // The mask that the forward product writes makes the gradient's zeros.
  const Ending ending = onDevice({}, [] {
    Case c;
    c.epilogue = Epilogue::reluAux;
    Data in = makeData(c);
    const Outcome forward = multiply(c, in);
    c.epilogue = Epilogue::reluGradient;
    in.aux = forward.data.auxOut;
    const Outcome backward = multiply(c, in);
    c.epilogue = Epilogue::none;
    std::vector<float> want = multiply(c, in).data.d;
    for (float &value : want)
      value = std::max(value, 0.0f);
    return compare("forward", forward.data.d, want, 0) +
           compare("backward", backward.data.d, want, 0);
  });
  EXPECT_EQ(ending.status, 0) << ending.printed;
}

TEST(EmulatedCublasLt, RefusesShortLeadingDimensions) {
  Case c;
  c.paddingA = -1;
  expectRefused(c, BlasStatus::invalidValue);
}

TEST(EmulatedCublasLt, RefusesTypesThatDoNotGoTogether) {
  Case c;
  c.compute = ComputeType::f64; // of f32 matrices
  expectRefused(c, BlasStatus::notSupported);
  c.compute = ComputeType::f32;
  c.scale = DataType::f64;
  expectRefused(c, BlasStatus::notSupported);
}

TEST(EmulatedCublasLt, RefusesAuxiliaryMatricesThatAreNotAligned) {
  Case c;
  c.epilogue = Epilogue::geluAux;
  c.auxLeadingDimension = 12; // a multiple of 8 is asked for
  expectRefused(c, BlasStatus::notSupported);
  c.epilogue = Epilogue::reluAux;
  c.auxLeadingDimension = 64; // of 128
  expectRefused(c, BlasStatus::notSupported);
}

TEST(EmulatedCublasLt, EndsAtLessAlignmentThanWasPromised) {
  Case c;
  c.alignment = 16;
  c.offsetA = 4;
  c.m = 4; // so that the matrix ends where its buffer does
  const Data in = makeData(c);
  const Ending ending = onDevice({}, [&] {
    multiply(c, in);
    return 0;
  });
  EXPECT_EQ(ending.status, 97);
  EXPECT_NE(ending.printed.find("chosen for an alignment of 16 bytes"), std::string::npos)
      << ending.printed;
}

TEST(EmulatedCublasLt, EndsWhereAMatrixLeavesItsBuffer) {
  Case c;
  Data in = makeData(c);
  in.b.pop_back();
  const Ending ending = onDevice({}, [&] {
    multiply(c, in);
    return 0;
  });
  EXPECT_EQ(ending.status, 97);
  EXPECT_NE(ending.printed.find("matrix B of cublasLtMatmul"), std::string::npos) << ending.printed;
}

} // namespace

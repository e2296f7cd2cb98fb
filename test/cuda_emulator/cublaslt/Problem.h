#ifndef DPC_TEST_CUDA_EMULATOR_CUBLASLT_PROBLEM_H
#define DPC_TEST_CUDA_EMULATOR_CUBLASLT_PROBLEM_H

#include "runtime/src/cuda/CublasLt.h"

#include <string>

namespace dpc::emulator {

/// What a matrix layout says: see LayoutAttribute.
struct LayoutState {
  cuda::DataType type;
  uint64_t rows, columns;
  int64_t leadingDimension;
  cuda::MatrixOrder order = cuda::MatrixOrder::column;
  int32_t batches = 1;
  int64_t batchOffset = 0;

  int64_t offset(int64_t row, int64_t column) const {
    return order == cuda::MatrixOrder::column ? column * leadingDimension + row
                                              : row * leadingDimension + column;
  }
};

/// What a description says: see MatmulAttribute.
struct DescriptionState {
  cuda::ComputeType compute;
  cuda::DataType scale;
  bool transposeA = false, transposeB = false;
  cuda::Epilogue epilogue = cuda::Epilogue::none;
  void *bias = nullptr, *aux = nullptr;
  int64_t biasBatchStride = 0, auxLeadingDimension = 0, auxBatchStride = 0;
  int32_t biasType = -1, auxType = -1; // a DataType, -1 is that of D

  bool has(cuda::Epilogue bit) const {
    return (static_cast<int>(epilogue) & static_cast<int>(bit)) == static_cast<int>(bit);
  }
  /// Whether the auxiliary matrix, if there is one, has a bit an element.
  bool hasMask() const { return static_cast<int>(epilogue) & (2 | 8); }
};

struct PreferenceState {
  uint64_t maxWorkspace = 0;
  uint32_t minAlignment[4] = {256, 256, 256, 256}; // of A, B, C, D
};

/// A product: D = epilogue(alpha op(A) op(B) + beta C).
struct Problem {
  DescriptionState description;
  LayoutState a, b, c, d;

  int64_t m() const { return static_cast<int64_t>(d.rows); }
  int64_t n() const { return static_cast<int64_t>(d.columns); }
  int64_t k() const { return static_cast<int64_t>(description.transposeA ? a.rows : a.columns); }
  cuda::DataType biasType() const {
    return description.biasType < 0 ? d.type : cuda::DataType(description.biasType);
  }
  cuda::DataType auxType() const {
    return description.auxType < 0 ? d.type : cuda::DataType(description.auxType);
  }
};

unsigned bytesOf(cuda::DataType type);

/// What NVIDIA's documentation refuses in a problem; "" when it is fine. `status`
/// becomes what the library answers.
std::string problemWith(const Problem &problem, cuda::BlasStatus &status);

/// A product with its data, where the host reaches it.
struct Job {
  Problem problem;
  double alpha = 1, beta = 0;
  const char *a = nullptr, *b = nullptr, *c = nullptr;
  char *d = nullptr, *bias = nullptr, *aux = nullptr;
  char *workspace = nullptr;
  uint64_t workspaceBytes = 0;
  bool isSlow = false; ///< takes milliseconds longer
};

/// Computes it. Sums of f64 for f64 and, rounded once, for all other types.
void compute(const Job &job);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_CUBLASLT_PROBLEM_H

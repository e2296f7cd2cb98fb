#ifndef DPC_RUNTIME_SRC_CUDA_CUBLASLT_H
#define DPC_RUNTIME_SRC_CUDA_CUBLASLT_H

// Declarations of the part of cuBLASLt 12 and 13 that dpc uses. dpc declares them
// itself, because it must build on machines without CUDA. If NVIDIA's headers are
// installed, CudaDeclarationsTest compares the declarations with them. Reference:
// NVIDIA, "cuBLAS", part "Using the cuBLASLt API". Matrices are column-major unless
// a layout says otherwise.

#include "runtime/src/cuda/Driver.h"

namespace dpc::cuda {

/// cublasStatus_t.
enum class BlasStatus : int {
  success = 0,
  notInitialized = 1,
  allocationFailed = 3,
  invalidValue = 7,
  archMismatch = 8,
  executionFailed = 13,
  internalError = 14,
  notSupported = 15,
};

/// cudaDataType_t.
enum class DataType : int { f32 = 0, f64 = 1, f16 = 2, bf16 = 14 };
/// cublasComputeType_t.
enum class ComputeType : int { f16 = 64, f32 = 68, f32FastTf32 = 77, f64 = 70 };
/// cublasOperation_t.
enum class Transpose : int { none = 0, transpose = 1 };
/// cublasLtOrder_t.
enum class MatrixOrder : int { column = 0, row = 1 };

/// cublasLtMatrixLayoutAttribute_t.
enum class LayoutAttribute : int {
  type = 0,
  order = 1,
  rows = 2,
  columns = 3,
  leadingDimension = 4,
  batchCount = 5,  // int32_t
  batchOffset = 6, // int64_t, in elements
};

/// cublasLtMatmulDescAttributes_t.
enum class MatmulAttribute : int {
  computeType = 0,
  scaleType = 1,
  pointerMode = 2,
  transposeA = 3,
  transposeB = 4,
  epilogue = 7,             // Epilogue
  biasPointer = 8,          // device pointer
  biasBatchStride = 10,     // int64_t, in elements
  auxPointer = 11,          // device pointer
  auxLeadingDimension = 12, // int64_t
  auxBatchStride = 13,      // int64_t
  auxType = 22,             // DataType as int32_t
  biasType = 26,            // DataType as int32_t
};

/// cublasLtEpilogue_t. A value is a set of bits; this list has the combinations that
/// NVIDIA defines.
enum class Epilogue : int {
  none = 1,
  relu = 2,
  bias = 4,
  reluBias = relu | bias,
  gelu = 32,
  geluBias = gelu | bias,
  reluAux = relu | 128,
  reluAuxBias = reluAux | bias,
  geluAux = gelu | 128,
  geluAuxBias = geluAux | bias,
  reluGradient = 8 | 128,
  reluGradientBiasGradient = reluGradient | 16,
  geluGradient = 64 | 128,
  geluGradientBiasGradient = geluGradient | 16,
  biasGradientA = 256,
  biasGradientB = 512,
};

/// cublasLtMatmulPreferenceAttributes_t.
enum class PreferenceAttribute : int {
  maxWorkspaceBytes = 1, // uint64_t
  minAlignmentA = 5,     // uint32_t, in bytes, 256 unless set
  minAlignmentB = 6,
  minAlignmentC = 7,
  minAlignmentD = 8,
};

/// cublasLtMatmulAlgo_t.
struct MatmulAlgorithm {
  uint64_t data[8];
};

/// cublasLtMatmulHeuristicResult_t.
struct MatmulHeuristic {
  MatmulAlgorithm algorithm;
  size_t workspaceBytes;
  BlasStatus status;
  float waves;
  int reserved[4];
};

using BlasHandle = struct cublasLtContext *;
using MatmulDescription = struct cublasLtMatmulDescOpaque *;
using MatrixLayout = struct cublasLtMatrixLayoutOpaque *;
using MatmulPreference = struct cublasLtMatmulPreferenceOpaque *;

// clang-format off
/// X(return type, name, parameters) for every function of cuBLASLt that dpc
/// uses.
#define DPC_CUBLASLT_FUNCTIONS(X)                                                                  \
  X(size_t, cublasLtGetVersion, ())                                                                \
  X(const char *, cublasLtGetStatusString, (BlasStatus status))                                    \
  X(BlasStatus, cublasLtCreate, (BlasHandle *handle))                                              \
  X(BlasStatus, cublasLtDestroy, (BlasHandle handle))                                              \
  X(BlasStatus, cublasLtMatmulDescCreate, (MatmulDescription *description, ComputeType compute, DataType scale)) \
  X(BlasStatus, cublasLtMatmulDescDestroy, (MatmulDescription description))                        \
  X(BlasStatus, cublasLtMatmulDescSetAttribute, (MatmulDescription description, MatmulAttribute attribute, const void *value, size_t bytes)) \
  X(BlasStatus, cublasLtMatrixLayoutCreate, (MatrixLayout *layout, DataType type, uint64_t rows, uint64_t columns, int64_t leadingDimension)) \
  X(BlasStatus, cublasLtMatrixLayoutDestroy, (MatrixLayout layout))                                \
  X(BlasStatus, cublasLtMatrixLayoutSetAttribute, (MatrixLayout layout, LayoutAttribute attribute, const void *value, size_t bytes)) \
  X(BlasStatus, cublasLtMatmulPreferenceCreate, (MatmulPreference *preference))                    \
  X(BlasStatus, cublasLtMatmulPreferenceDestroy, (MatmulPreference preference))                    \
  X(BlasStatus, cublasLtMatmulPreferenceSetAttribute, (MatmulPreference preference, PreferenceAttribute attribute, const void *value, size_t bytes)) \
  X(BlasStatus, cublasLtMatmulAlgoGetHeuristic, (BlasHandle handle, MatmulDescription description, MatrixLayout a, MatrixLayout b, MatrixLayout c, MatrixLayout d, MatmulPreference preference, int requested, MatmulHeuristic results[], int *returned)) \
  X(BlasStatus, cublasLtMatmulAlgoCheck, (BlasHandle handle, MatmulDescription description, MatrixLayout a, MatrixLayout b, MatrixLayout c, MatrixLayout d, const MatmulAlgorithm *algorithm, MatmulHeuristic *result)) \
  X(BlasStatus, cublasLtMatmul, (BlasHandle handle, MatmulDescription description, const void *alpha, const void *a, MatrixLayout aLayout, const void *b, MatrixLayout bLayout, const void *beta, const void *c, MatrixLayout cLayout, void *d, MatrixLayout dLayout, const MatmulAlgorithm *algorithm, void *workspace, size_t workspaceBytes, Stream stream))
// clang-format on

} // namespace dpc::cuda

#endif // DPC_RUNTIME_SRC_CUDA_CUBLASLT_H

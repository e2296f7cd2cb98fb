// cuBLASLt on the emulated device.
#include "test/cuda_emulator/driver/Api.h"
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/cublaslt/Problem.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

using namespace dpc::cuda;
using namespace dpc::emulator;

namespace dpc::cuda {
extern "C" {
DPC_CUBLASLT_FUNCTIONS(DPC_EMU_DECLARE)
}
} // namespace dpc::cuda

static DescriptionState *stateOf(MatmulDescription description) {
  return reinterpret_cast<DescriptionState *>(description);
}
static LayoutState *stateOf(MatrixLayout layout) { return reinterpret_cast<LayoutState *>(layout); }
static PreferenceState *stateOf(MatmulPreference preference) {
  return reinterpret_cast<PreferenceState *>(preference);
}

/// Copies an attribute of a type whose size the caller must name.
template <typename T> static BlasStatus take(T &into, const void *value, size_t bytes) {
  if (!value || bytes != sizeof(T))
    return BlasStatus::invalidValue;
  std::memcpy(&into, value, sizeof(T));
  return BlasStatus::success;
}

static BlasStatus takeFlag(bool &into, const void *value, size_t bytes) {
  int32_t number = 0;
  const BlasStatus status = take(number, value, bytes);
  into = number != 0;
  return status == BlasStatus::success && (number < 0 || number > 1) ? BlasStatus::invalidValue
                                                                     : status;
}

/// Bytes of device memory from the first element of a matrix to its last one.
static uint64_t extentOf(const LayoutState &layout) {
  if (!layout.rows || !layout.columns)
    return 0;
  const int64_t last = (layout.batches - 1) * layout.batchOffset +
                       layout.offset(static_cast<int64_t>(layout.rows) - 1,
                                     static_cast<int64_t>(layout.columns) - 1);
  return static_cast<uint64_t>(last + 1) * bytesOf(layout.type);
}

/// What the first word of an algorithm of this library is.
static constexpr uint64_t kAlgorithmMark = 0x656d75;

/// An algorithm says what it was chosen for: the alignment of each matrix.
static MatmulAlgorithm algorithmFor(const PreferenceState &preference) {
  MatmulAlgorithm algorithm = {};
  algorithm.data[0] = kAlgorithmMark;
  for (int i = 0; i < 4; ++i)
    algorithm.data[1 + i] = preference.minAlignment[i];
  // It wants some workspace where it may have some.
  algorithm.data[5] = std::min<uint64_t>(preference.maxWorkspace, 512);
  return algorithm;
}

static Problem problemOf(MatmulDescription description, MatrixLayout a, MatrixLayout b,
                         MatrixLayout c, MatrixLayout d) {
  return {*stateOf(description), *stateOf(a), *stateOf(b), *stateOf(c), *stateOf(d)};
}

namespace dpc::cuda {
extern "C" {

size_t cublasLtGetVersion() { return 130000; }

const char *cublasLtGetStatusString(BlasStatus status) {
  switch (status) {
  case BlasStatus::success:
    return "CUBLAS_STATUS_SUCCESS";
  case BlasStatus::invalidValue:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case BlasStatus::notSupported:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  case BlasStatus::notInitialized:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  default:
    return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}

BlasStatus cublasLtCreate(BlasHandle *handle) {
  if (dpcEmulatorDevice() < 0)
    return BlasStatus::notInitialized;
  *handle = reinterpret_cast<BlasHandle>(new char);
  return BlasStatus::success;
}

BlasStatus cublasLtDestroy(BlasHandle handle) {
  delete reinterpret_cast<char *>(handle);
  return BlasStatus::success;
}

BlasStatus cublasLtMatmulDescCreate(MatmulDescription *description, ComputeType compute,
                                    DataType scale) {
  auto *state = new DescriptionState;
  state->compute = compute;
  state->scale = scale;
  *description = reinterpret_cast<MatmulDescription>(state);
  return BlasStatus::success;
}

BlasStatus cublasLtMatmulDescDestroy(MatmulDescription description) {
  delete stateOf(description);
  return BlasStatus::success;
}

BlasStatus cublasLtMatmulDescSetAttribute(MatmulDescription description, MatmulAttribute attribute,
                                          const void *value, size_t bytes) {
  DescriptionState &state = *stateOf(description);
  switch (attribute) {
  case MatmulAttribute::transposeA:
    return takeFlag(state.transposeA, value, bytes);
  case MatmulAttribute::transposeB:
    return takeFlag(state.transposeB, value, bytes);
  case MatmulAttribute::epilogue:
    return take(state.epilogue, value, bytes);
  case MatmulAttribute::biasPointer:
    return take(state.bias, value, bytes);
  case MatmulAttribute::biasBatchStride:
    return take(state.biasBatchStride, value, bytes);
  case MatmulAttribute::auxPointer:
    return take(state.aux, value, bytes);
  case MatmulAttribute::auxLeadingDimension:
    return take(state.auxLeadingDimension, value, bytes);
  case MatmulAttribute::auxBatchStride:
    return take(state.auxBatchStride, value, bytes);
  case MatmulAttribute::auxType:
    return take(state.auxType, value, bytes);
  case MatmulAttribute::biasType:
    return take(state.biasType, value, bytes);
  case MatmulAttribute::computeType:
    return take(state.compute, value, bytes);
  case MatmulAttribute::scaleType:
    return take(state.scale, value, bytes);
  case MatmulAttribute::pointerMode:
    break;
  }
  fail("the attribute %d of a product is not known", static_cast<int>(attribute));
}

BlasStatus cublasLtMatrixLayoutCreate(MatrixLayout *layout, DataType type, uint64_t rows,
                                      uint64_t columns, int64_t leadingDimension) {
  auto *state = new LayoutState;
  state->type = type;
  state->rows = rows;
  state->columns = columns;
  state->leadingDimension = leadingDimension;
  *layout = reinterpret_cast<MatrixLayout>(state);
  return BlasStatus::success;
}

BlasStatus cublasLtMatrixLayoutDestroy(MatrixLayout layout) {
  delete stateOf(layout);
  return BlasStatus::success;
}

BlasStatus cublasLtMatrixLayoutSetAttribute(MatrixLayout layout, LayoutAttribute attribute,
                                            const void *value, size_t bytes) {
  LayoutState &state = *stateOf(layout);
  switch (attribute) {
  case LayoutAttribute::order:
    return take(state.order, value, bytes);
  case LayoutAttribute::batchCount:
    return take(state.batches, value, bytes);
  case LayoutAttribute::batchOffset:
    return take(state.batchOffset, value, bytes);
  case LayoutAttribute::leadingDimension:
    return take(state.leadingDimension, value, bytes);
  default:
    fail("the attribute %d of a layout is not known", static_cast<int>(attribute));
  }
}

BlasStatus cublasLtMatmulPreferenceCreate(MatmulPreference *preference) {
  *preference = reinterpret_cast<MatmulPreference>(new PreferenceState);
  return BlasStatus::success;
}

BlasStatus cublasLtMatmulPreferenceDestroy(MatmulPreference preference) {
  delete stateOf(preference);
  return BlasStatus::success;
}

BlasStatus cublasLtMatmulPreferenceSetAttribute(MatmulPreference preference,
                                                PreferenceAttribute attribute, const void *value,
                                                size_t bytes) {
  PreferenceState &state = *stateOf(preference);
  const int matrix =
      static_cast<int>(attribute) - static_cast<int>(PreferenceAttribute::minAlignmentA);
  if (attribute == PreferenceAttribute::maxWorkspaceBytes)
    return take(state.maxWorkspace, value, bytes);
  if (matrix < 0 || matrix > 3)
    fail("the preference %d is not known", static_cast<int>(attribute));
  return take(state.minAlignment[matrix], value, bytes);
}

BlasStatus cublasLtMatmulAlgoGetHeuristic(BlasHandle handle, MatmulDescription description,
                                          MatrixLayout a, MatrixLayout b, MatrixLayout c,
                                          MatrixLayout d, MatmulPreference preference,
                                          int requested, MatmulHeuristic results[], int *returned) {
  *returned = 0;
  if (!handle)
    return BlasStatus::notInitialized;
  if (requested < 1)
    return BlasStatus::invalidValue;
  BlasStatus status;
  if (!problemWith(problemOf(description, a, b, c, d), status).empty())
    return status;
  dpcEmulatorCount("cublasLtMatmulAlgoGetHeuristic");
  // They differ in their numbers alone.
  const int known = 3;
  *returned = std::min(requested, known);
  for (int i = 0; i < *returned; ++i) {
    results[i] = {};
    results[i].algorithm = algorithmFor(*stateOf(preference));
    results[i].algorithm.data[6] = static_cast<uint64_t>(i);
    results[i].workspaceBytes = results[i].algorithm.data[5];
    results[i].status = BlasStatus::success;
  }
  return BlasStatus::success;
}

BlasStatus cublasLtMatmulAlgoCheck(BlasHandle handle, MatmulDescription description, MatrixLayout a,
                                   MatrixLayout b, MatrixLayout c, MatrixLayout d,
                                   const MatmulAlgorithm *algorithm, MatmulHeuristic *result) {
  BlasStatus status;
  if (!handle)
    return BlasStatus::notInitialized;
  if (!problemWith(problemOf(description, a, b, c, d), status).empty())
    return status;
  if (algorithm->data[0] != kAlgorithmMark)
    return BlasStatus::invalidValue;
  *result = {};
  result->algorithm = *algorithm;
  return BlasStatus::success;
}

BlasStatus cublasLtMatmul(BlasHandle handle, MatmulDescription description, const void *alpha,
                          const void *a, MatrixLayout aLayout, const void *b, MatrixLayout bLayout,
                          const void *beta, const void *c, MatrixLayout cLayout, void *d,
                          MatrixLayout dLayout, const MatmulAlgorithm *algorithm, void *workspace,
                          size_t workspaceBytes, Stream stream) {
  if (!handle)
    return BlasStatus::notInitialized;
  auto job = std::make_unique<Job>();
  job->problem = problemOf(description, aLayout, bLayout, cLayout, dLayout);
  const Problem &p = job->problem;
  BlasStatus status;
  if (!problemWith(p, status).empty())
    return status;
  if (!alpha || !beta || !a || !b || !d || !algorithm || algorithm->data[0] != kAlgorithmMark)
    return BlasStatus::invalidValue;
  const bool isDouble = p.description.scale == DataType::f64;
  auto scalar = [&](const void *from) {
    return isDouble ? *static_cast<const double *>(from)
                    : double(*static_cast<const float *>(from));
  };
  job->alpha = scalar(alpha);
  job->beta = scalar(beta);
  if (job->beta != 0 && !c)
    return BlasStatus::invalidValue;
  // What the algorithm was chosen for must hold of what it gets.
  const void *const pointers[4] = {a, b, job->beta != 0 ? c : d, d};
  for (int i = 0; i < 4; ++i)
    if (reinterpret_cast<uint64_t>(pointers[i]) % algorithm->data[1 + i])
      fail("cublasLtMatmul: matrix %c lies at %p, but its algorithm was chosen for an alignment of "
           "%llu bytes",
           "ABCD"[i], pointers[i], static_cast<unsigned long long>(algorithm->data[1 + i]));
  const uint64_t workspaceNeeded = algorithm->data[5];
  if (workspaceBytes < workspaceNeeded)
    return BlasStatus::invalidValue;
  if (workspaceNeeded && reinterpret_cast<uint64_t>(workspace) % 256)
    fail("cublasLtMatmul: the workspace lies at %p, which is no multiple of 256", workspace);
  auto reach = [](const void *from, uint64_t bytes, const char *what) {
    return static_cast<char *>(dpcEmulatorReach(from, bytes, what));
  };
  job->a = reach(a, extentOf(p.a), "matrix A of cublasLtMatmul");
  job->b = reach(b, extentOf(p.b), "matrix B of cublasLtMatmul");
  job->c = job->beta != 0 ? reach(c, extentOf(p.c), "matrix C of cublasLtMatmul") : nullptr;
  job->d = reach(d, extentOf(p.d), "matrix D of cublasLtMatmul");
  // What is left in the workspace is nothing that anyone may rely on.
  if (workspaceNeeded)
    job->workspace = reach(workspace, workspaceNeeded, "workspace of cublasLtMatmul");
  job->workspaceBytes = workspaceNeeded;
  if (p.description.bias) {
    const bool alongColumns = p.description.has(Epilogue::biasGradientB);
    const auto length = static_cast<uint64_t>((alongColumns ? p.n() : p.m()) +
                                              (p.d.batches - 1) * p.description.biasBatchStride);
    job->bias = reach(p.description.bias, length * bytesOf(p.biasType()), "bias of cublasLtMatmul");
  }
  if (p.description.aux) {
    const auto elements =
        static_cast<uint64_t>((p.d.batches - 1) * p.description.auxBatchStride +
                              (p.n() - 1) * p.description.auxLeadingDimension + p.m());
    job->aux = reach(p.description.aux,
                     p.description.hasMask() ? (elements + 7) / 8 : elements * bytesOf(p.auxType()),
                     "auxiliary matrix of cublasLtMatmul");
  }
  dpcEmulatorCount("cublasLtMatmul");
  job->isSlow = algorithm->data[6] == static_cast<uint64_t>(int64_t(Options::get().slowAlgorithm));
  dpcEmulatorEnqueue(
      stream,
      [](void *data) {
        const auto &job = *static_cast<const Job *>(data);
        if (job.isSlow)
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (!Options::get().runsSomeBlocks())
          compute(job);
      },
      [](void *data) { delete static_cast<Job *>(data); }, job.release());
  return BlasStatus::success;
}
}
} // namespace dpc::cuda

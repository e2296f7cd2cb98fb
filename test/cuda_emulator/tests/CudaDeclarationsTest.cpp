// dpc's declarations of the CUDA driver, cuBLASLt and NCCL against NVIDIA's
// headers: numbers of enumerations, sizes of structs, and of each function the
// result and parameters. Where the headers are not found nothing is compared,
// and the test says so.
#include "runtime/src/cuda/Libraries.h"

#include <gtest/gtest.h>

#ifdef DPC_HAS_CUDA_HEADERS
// The driver's header renames functions to their newest version; this keeps each symbol's own.
#define __CUDA_API_VERSION_INTERNAL
#include <cublasLt.h>
#include <cuda.h>
#endif
#ifdef DPC_HAS_NCCL_HEADER
#include <nccl.h>
#endif

#include <cstddef>
#include <type_traits>

using namespace dpc::cuda;

namespace {

/// Whether two types are passed and returned alike: pointers, numbers of one
/// size and signedness (an enumeration counts as its number), structs of one size.
template <typename A, typename B> constexpr bool isPassedAlike() {
  if constexpr (std::is_pointer_v<A> || std::is_pointer_v<B>)
    return std::is_pointer_v<A> && std::is_pointer_v<B>;
  else if constexpr (std::is_void_v<A> || std::is_void_v<B>)
    return std::is_void_v<A> && std::is_void_v<B>;
  else if constexpr (std::is_class_v<A> || std::is_class_v<B>)
    return std::is_class_v<A> && std::is_class_v<B> && sizeof(A) == sizeof(B) &&
           alignof(A) == alignof(B);
  else if constexpr (std::is_enum_v<A> || std::is_enum_v<B>)
    return sizeof(A) == sizeof(B) && !std::is_floating_point_v<A> && !std::is_floating_point_v<B>;
  else
    return sizeof(A) == sizeof(B) && std::is_signed_v<A> == std::is_signed_v<B> &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
}

template <typename A, typename B> struct IsSameCall : std::false_type {};
template <typename A, typename... As, typename B, typename... Bs>
struct IsSameCall<A(As...), B(Bs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(As) != sizeof...(Bs))
      return false;
    else
      return isPassedAlike<A, B>() && (isPassedAlike<As, Bs>() && ...);
  }();
};

TEST(CudaDeclarations, ComparisonSeesDifferences) {
  EXPECT_TRUE((IsSameCall<int(float *, unsigned), int(void *, unsigned)>::value));
  EXPECT_TRUE((IsSameCall<Result(size_t), int(size_t)>::value));
  EXPECT_FALSE((IsSameCall<int(float *), int(float *, int)>::value));
  EXPECT_FALSE((IsSameCall<int(unsigned), int(size_t)>::value));
  EXPECT_FALSE((IsSameCall<int(unsigned), int(int)>::value));
  EXPECT_FALSE((IsSameCall<int(NcclId), int(Uuid)>::value));
  EXPECT_FALSE((IsSameCall<int(float), int(int)>::value));
  EXPECT_FALSE((IsSameCall<int(void *), int(size_t)>::value));
}

#define DPC_SAME_CALL(result, name, parameters)                                                    \
  EXPECT_TRUE((IsSameCall<result parameters, std::remove_pointer_t<decltype(&::name)>>::value))    \
      << #name;
#define DPC_SAME_NUMBER(ours, theirs) EXPECT_EQ(static_cast<long>(ours), static_cast<long>(theirs))

#ifdef DPC_HAS_CUDA_HEADERS

TEST(CudaDeclarations, FunctionsOfTheDriver){DPC_CUDA_DRIVER_FUNCTIONS(DPC_SAME_CALL)}

TEST(CudaDeclarations, NumbersOfTheDriver) {
  DPC_SAME_NUMBER(Result::invalidValue, CUDA_ERROR_INVALID_VALUE);
  DPC_SAME_NUMBER(Result::outOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  DPC_SAME_NUMBER(Result::notInitialized, CUDA_ERROR_NOT_INITIALIZED);
  DPC_SAME_NUMBER(Result::noDevice, CUDA_ERROR_NO_DEVICE);
  DPC_SAME_NUMBER(Result::invalidDevice, CUDA_ERROR_INVALID_DEVICE);
  DPC_SAME_NUMBER(Result::invalidImage, CUDA_ERROR_INVALID_IMAGE);
  DPC_SAME_NUMBER(Result::invalidContext, CUDA_ERROR_INVALID_CONTEXT);
  DPC_SAME_NUMBER(Result::noBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
  DPC_SAME_NUMBER(Result::invalidPtx, CUDA_ERROR_INVALID_PTX);
  DPC_SAME_NUMBER(Result::unsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  DPC_SAME_NUMBER(Result::invalidHandle, CUDA_ERROR_INVALID_HANDLE);
  DPC_SAME_NUMBER(Result::notFound, CUDA_ERROR_NOT_FOUND);
  DPC_SAME_NUMBER(Result::notReady, CUDA_ERROR_NOT_READY);
  DPC_SAME_NUMBER(Result::illegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  DPC_SAME_NUMBER(Result::launchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  DPC_SAME_NUMBER(Result::hostMemoryAlreadyRegistered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  DPC_SAME_NUMBER(Result::hostMemoryNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  DPC_SAME_NUMBER(Result::misalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
  DPC_SAME_NUMBER(Result::launchFailed, CUDA_ERROR_LAUNCH_FAILED);
  DPC_SAME_NUMBER(Result::notPermitted, CUDA_ERROR_NOT_PERMITTED);
  DPC_SAME_NUMBER(Result::notSupported, CUDA_ERROR_NOT_SUPPORTED);
  DPC_SAME_NUMBER(Result::systemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
  DPC_SAME_NUMBER(Result::streamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  DPC_SAME_NUMBER(Result::streamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  DPC_SAME_NUMBER(Result::streamCaptureUnmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  DPC_SAME_NUMBER(Result::streamCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  DPC_SAME_NUMBER(Result::streamCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  DPC_SAME_NUMBER(Result::streamCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  DPC_SAME_NUMBER(Result::unknown, CUDA_ERROR_UNKNOWN);
  DPC_SAME_NUMBER(DeviceAttribute::maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  DPC_SAME_NUMBER(DeviceAttribute::maxSharedMemoryPerBlock,
                  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  DPC_SAME_NUMBER(DeviceAttribute::warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  DPC_SAME_NUMBER(DeviceAttribute::maxRegistersPerBlock,
                  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  DPC_SAME_NUMBER(DeviceAttribute::multiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  DPC_SAME_NUMBER(DeviceAttribute::computeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
  DPC_SAME_NUMBER(DeviceAttribute::l2CacheBytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  DPC_SAME_NUMBER(DeviceAttribute::maxThreadsPerMultiprocessor,
                  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  DPC_SAME_NUMBER(DeviceAttribute::computeCapabilityMajor,
                  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  DPC_SAME_NUMBER(DeviceAttribute::computeCapabilityMinor,
                  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  DPC_SAME_NUMBER(DeviceAttribute::maxSharedMemoryPerMultiprocessor,
                  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  DPC_SAME_NUMBER(DeviceAttribute::maxSharedMemoryPerBlockOptin,
                  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  DPC_SAME_NUMBER(FunctionAttribute::maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  DPC_SAME_NUMBER(FunctionAttribute::staticSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  DPC_SAME_NUMBER(FunctionAttribute::localBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  DPC_SAME_NUMBER(FunctionAttribute::registers, CU_FUNC_ATTRIBUTE_NUM_REGS);
  DPC_SAME_NUMBER(FunctionAttribute::maxDynamicSharedBytes,
                  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  DPC_SAME_NUMBER(JitOption::errorLog, CU_JIT_ERROR_LOG_BUFFER);
  DPC_SAME_NUMBER(JitOption::errorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  DPC_SAME_NUMBER(CaptureMode::global, CU_STREAM_CAPTURE_MODE_GLOBAL);
  DPC_SAME_NUMBER(CaptureMode::threadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  DPC_SAME_NUMBER(CaptureMode::relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
  DPC_SAME_NUMBER(CaptureStatus::active, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  DPC_SAME_NUMBER(CaptureStatus::invalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  DPC_SAME_NUMBER(NodeType::kernel, CU_GRAPH_NODE_TYPE_KERNEL);
  DPC_SAME_NUMBER(NodeType::memcpy, CU_GRAPH_NODE_TYPE_MEMCPY);
  DPC_SAME_NUMBER(NodeType::memset, CU_GRAPH_NODE_TYPE_MEMSET);
  DPC_SAME_NUMBER(NodeType::host, CU_GRAPH_NODE_TYPE_HOST);
  DPC_SAME_NUMBER(NodeType::child, CU_GRAPH_NODE_TYPE_GRAPH);
  DPC_SAME_NUMBER(NodeType::empty, CU_GRAPH_NODE_TYPE_EMPTY);
  DPC_SAME_NUMBER(NodeType::waitEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  DPC_SAME_NUMBER(NodeType::eventRecord, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  DPC_SAME_NUMBER(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
  DPC_SAME_NUMBER(kEventDisableTiming, CU_EVENT_DISABLE_TIMING);
  DPC_SAME_NUMBER(kHostRegisterPortable, CU_MEMHOSTREGISTER_PORTABLE);
  DPC_SAME_NUMBER(kGraphUseNodePriority, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
}

TEST(CudaDeclarations, FunctionsOfCublasLt){DPC_CUBLASLT_FUNCTIONS(DPC_SAME_CALL)}

TEST(CudaDeclarations, NumbersOfCublasLt) {
  DPC_SAME_NUMBER(BlasStatus::notInitialized, CUBLAS_STATUS_NOT_INITIALIZED);
  DPC_SAME_NUMBER(BlasStatus::allocationFailed, CUBLAS_STATUS_ALLOC_FAILED);
  DPC_SAME_NUMBER(BlasStatus::invalidValue, CUBLAS_STATUS_INVALID_VALUE);
  DPC_SAME_NUMBER(BlasStatus::archMismatch, CUBLAS_STATUS_ARCH_MISMATCH);
  DPC_SAME_NUMBER(BlasStatus::executionFailed, CUBLAS_STATUS_EXECUTION_FAILED);
  DPC_SAME_NUMBER(BlasStatus::internalError, CUBLAS_STATUS_INTERNAL_ERROR);
  DPC_SAME_NUMBER(BlasStatus::notSupported, CUBLAS_STATUS_NOT_SUPPORTED);
  DPC_SAME_NUMBER(DataType::f32, CUDA_R_32F);
  DPC_SAME_NUMBER(DataType::f64, CUDA_R_64F);
  DPC_SAME_NUMBER(DataType::f16, CUDA_R_16F);
  DPC_SAME_NUMBER(DataType::bf16, CUDA_R_16BF);
  DPC_SAME_NUMBER(ComputeType::f16, CUBLAS_COMPUTE_16F);
  DPC_SAME_NUMBER(ComputeType::f32, CUBLAS_COMPUTE_32F);
  DPC_SAME_NUMBER(ComputeType::f32FastTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
  DPC_SAME_NUMBER(ComputeType::f64, CUBLAS_COMPUTE_64F);
  DPC_SAME_NUMBER(Transpose::none, CUBLAS_OP_N);
  DPC_SAME_NUMBER(Transpose::transpose, CUBLAS_OP_T);
  DPC_SAME_NUMBER(MatrixOrder::column, CUBLASLT_ORDER_COL);
  DPC_SAME_NUMBER(MatrixOrder::row, CUBLASLT_ORDER_ROW);
  DPC_SAME_NUMBER(LayoutAttribute::type, CUBLASLT_MATRIX_LAYOUT_TYPE);
  DPC_SAME_NUMBER(LayoutAttribute::order, CUBLASLT_MATRIX_LAYOUT_ORDER);
  DPC_SAME_NUMBER(LayoutAttribute::rows, CUBLASLT_MATRIX_LAYOUT_ROWS);
  DPC_SAME_NUMBER(LayoutAttribute::columns, CUBLASLT_MATRIX_LAYOUT_COLS);
  DPC_SAME_NUMBER(LayoutAttribute::leadingDimension, CUBLASLT_MATRIX_LAYOUT_LD);
  DPC_SAME_NUMBER(LayoutAttribute::batchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  DPC_SAME_NUMBER(LayoutAttribute::batchOffset, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  DPC_SAME_NUMBER(MatmulAttribute::computeType, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE);
  DPC_SAME_NUMBER(MatmulAttribute::scaleType, CUBLASLT_MATMUL_DESC_SCALE_TYPE);
  DPC_SAME_NUMBER(MatmulAttribute::pointerMode, CUBLASLT_MATMUL_DESC_POINTER_MODE);
  DPC_SAME_NUMBER(MatmulAttribute::transposeA, CUBLASLT_MATMUL_DESC_TRANSA);
  DPC_SAME_NUMBER(MatmulAttribute::transposeB, CUBLASLT_MATMUL_DESC_TRANSB);
  DPC_SAME_NUMBER(MatmulAttribute::epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
  DPC_SAME_NUMBER(MatmulAttribute::biasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  DPC_SAME_NUMBER(MatmulAttribute::biasBatchStride, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE);
  DPC_SAME_NUMBER(MatmulAttribute::auxPointer, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
  DPC_SAME_NUMBER(MatmulAttribute::auxLeadingDimension, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
  DPC_SAME_NUMBER(MatmulAttribute::auxBatchStride, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE);
  DPC_SAME_NUMBER(MatmulAttribute::auxType, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE);
  DPC_SAME_NUMBER(MatmulAttribute::biasType, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
  DPC_SAME_NUMBER(Epilogue::none, CUBLASLT_EPILOGUE_DEFAULT);
  DPC_SAME_NUMBER(Epilogue::reluBias, CUBLASLT_EPILOGUE_RELU_BIAS);
  DPC_SAME_NUMBER(Epilogue::geluBias, CUBLASLT_EPILOGUE_GELU_BIAS);
  DPC_SAME_NUMBER(Epilogue::reluAuxBias, CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
  DPC_SAME_NUMBER(Epilogue::geluAuxBias, CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
  DPC_SAME_NUMBER(Epilogue::reluGradientBiasGradient, CUBLASLT_EPILOGUE_DRELU_BGRAD);
  DPC_SAME_NUMBER(Epilogue::geluGradientBiasGradient, CUBLASLT_EPILOGUE_DGELU_BGRAD);
  DPC_SAME_NUMBER(Epilogue::biasGradientA, CUBLASLT_EPILOGUE_BGRADA);
  DPC_SAME_NUMBER(Epilogue::biasGradientB, CUBLASLT_EPILOGUE_BGRADB);
  DPC_SAME_NUMBER(PreferenceAttribute::maxWorkspaceBytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  DPC_SAME_NUMBER(PreferenceAttribute::minAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
  DPC_SAME_NUMBER(PreferenceAttribute::minAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
  DPC_SAME_NUMBER(PreferenceAttribute::minAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
  DPC_SAME_NUMBER(PreferenceAttribute::minAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
  EXPECT_EQ(sizeof(MatmulAlgorithm), sizeof(cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(MatmulHeuristic), sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(offsetof(MatmulHeuristic, workspaceBytes),
            offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
  EXPECT_EQ(offsetof(MatmulHeuristic, status), offsetof(cublasLtMatmulHeuristicResult_t, state));
  EXPECT_EQ(offsetof(MatmulHeuristic, waves),
            offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));
}

#endif // DPC_HAS_CUDA_HEADERS
#ifdef DPC_HAS_NCCL_HEADER

TEST(CudaDeclarations, FunctionsOfNccl){DPC_NCCL_FUNCTIONS(DPC_SAME_CALL)}

TEST(CudaDeclarations, NumbersOfNccl) {
  DPC_SAME_NUMBER(NcclResult::unhandledCudaError, ncclUnhandledCudaError);
  DPC_SAME_NUMBER(NcclResult::systemError, ncclSystemError);
  DPC_SAME_NUMBER(NcclResult::internalError, ncclInternalError);
  DPC_SAME_NUMBER(NcclResult::invalidArgument, ncclInvalidArgument);
  DPC_SAME_NUMBER(NcclResult::invalidUsage, ncclInvalidUsage);
  DPC_SAME_NUMBER(NcclResult::remoteError, ncclRemoteError);
  DPC_SAME_NUMBER(NcclResult::inProgress, ncclInProgress);
  DPC_SAME_NUMBER(NcclType::i8, ncclInt8);
  DPC_SAME_NUMBER(NcclType::u8, ncclUint8);
  DPC_SAME_NUMBER(NcclType::i32, ncclInt32);
  DPC_SAME_NUMBER(NcclType::u32, ncclUint32);
  DPC_SAME_NUMBER(NcclType::i64, ncclInt64);
  DPC_SAME_NUMBER(NcclType::u64, ncclUint64);
  DPC_SAME_NUMBER(NcclType::f16, ncclFloat16);
  DPC_SAME_NUMBER(NcclType::f32, ncclFloat32);
  DPC_SAME_NUMBER(NcclType::f64, ncclFloat64);
  DPC_SAME_NUMBER(NcclType::bf16, ncclBfloat16);
  DPC_SAME_NUMBER(NcclReduction::sum, ncclSum);
  DPC_SAME_NUMBER(NcclReduction::product, ncclProd);
  DPC_SAME_NUMBER(NcclReduction::max, ncclMax);
  DPC_SAME_NUMBER(NcclReduction::min, ncclMin);
  DPC_SAME_NUMBER(NcclReduction::average, ncclAvg);
  DPC_SAME_NUMBER(kNcclNoColor, NCCL_SPLIT_NOCOLOR);
  DPC_SAME_NUMBER(kNcclUndefined, NCCL_CONFIG_UNDEF_INT);
  EXPECT_EQ(sizeof(NcclId), sizeof(ncclUniqueId));
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(NcclConfig().magic, theirs.magic);
  EXPECT_EQ(offsetof(NcclConfig, blocking), offsetof(ncclConfig_t, blocking));
  EXPECT_EQ(offsetof(NcclConfig, netName), offsetof(ncclConfig_t, netName));
  EXPECT_EQ(offsetof(NcclConfig, splitShare), offsetof(ncclConfig_t, splitShare));
}

#endif // DPC_HAS_NCCL_HEADER

#if !defined(DPC_HAS_CUDA_HEADERS) || !defined(DPC_HAS_NCCL_HEADER)
TEST(CudaDeclarations, HeadersAreThere) {
  GTEST_SKIP() << "CUDA's headers are not installed: nothing to compare with";
}
#endif

} // namespace

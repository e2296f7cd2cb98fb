// dpc's declarations of the CUDA driver, cuBLASLt, cuDNN and NCCL against NVIDIA's
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
#ifdef DPC_HAS_CUDNN_HEADERS
#include <cudnn_graph.h>
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
#ifdef DPC_HAS_CUDNN_HEADERS

TEST(CudaDeclarations, FunctionsOfCudnn){DPC_CUDNN_FUNCTIONS(DPC_SAME_CALL)}

TEST(CudaDeclarations, NumbersOfCudnn) {
  DPC_SAME_NUMBER(DnnStatus::success, CUDNN_STATUS_SUCCESS);
  DPC_SAME_NUMBER(DnnStatus::notInitialized, CUDNN_STATUS_NOT_INITIALIZED);
  DPC_SAME_NUMBER(DnnStatus::badParameter, CUDNN_STATUS_BAD_PARAM);
  DPC_SAME_NUMBER(DnnStatus::nullPointer, CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  DPC_SAME_NUMBER(DnnStatus::notFinalized, CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  DPC_SAME_NUMBER(DnnStatus::outOfBound, CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND);
  DPC_SAME_NUMBER(DnnStatus::tooSmall, CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
  DPC_SAME_NUMBER(DnnStatus::shapeMismatch, CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
  DPC_SAME_NUMBER(DnnStatus::attributeType, CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
  DPC_SAME_NUMBER(DnnStatus::descriptorType, CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
  DPC_SAME_NUMBER(DnnStatus::notSupported, CUDNN_STATUS_NOT_SUPPORTED);
  DPC_SAME_NUMBER(DnnStatus::internalError, CUDNN_STATUS_INTERNAL_ERROR);
  DPC_SAME_NUMBER(DnnStatus::executionFailed, CUDNN_STATUS_EXECUTION_FAILED);
  DPC_SAME_NUMBER(DnnDataType::f32, CUDNN_DATA_FLOAT);
  DPC_SAME_NUMBER(DnnDataType::f64, CUDNN_DATA_DOUBLE);
  DPC_SAME_NUMBER(DnnDataType::f16, CUDNN_DATA_HALF);
  DPC_SAME_NUMBER(DnnDataType::bf16, CUDNN_DATA_BFLOAT16);
  DPC_SAME_NUMBER(DnnConvolutionMode::convolution, CUDNN_CONVOLUTION);
  DPC_SAME_NUMBER(DnnConvolutionMode::crossCorrelation, CUDNN_CROSS_CORRELATION);
  DPC_SAME_NUMBER(DnnDescriptorType::convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnDescriptorType::engine, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnDescriptorType::engineConfig, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnDescriptorType::engineHeuristic, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnDescriptorType::executionPlan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnDescriptorType::operationForward,
                  CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnDescriptorType::operationWeightGradient,
                  CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnDescriptorType::operationInputGradient,
                  CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnDescriptorType::operationGraph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnDescriptorType::variantPack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnDescriptorType::tensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnDescriptorType::deviceProperties, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnType::handle, CUDNN_TYPE_HANDLE);
  DPC_SAME_NUMBER(DnnType::dataType, CUDNN_TYPE_DATA_TYPE);
  DPC_SAME_NUMBER(DnnType::boolean, CUDNN_TYPE_BOOLEAN);
  DPC_SAME_NUMBER(DnnType::i64, CUDNN_TYPE_INT64);
  DPC_SAME_NUMBER(DnnType::f32, CUDNN_TYPE_FLOAT);
  DPC_SAME_NUMBER(DnnType::f64, CUDNN_TYPE_DOUBLE);
  DPC_SAME_NUMBER(DnnType::pointer, CUDNN_TYPE_VOID_PTR);
  DPC_SAME_NUMBER(DnnType::convolutionMode, CUDNN_TYPE_CONVOLUTION_MODE);
  DPC_SAME_NUMBER(DnnType::heuristicMode, CUDNN_TYPE_HEUR_MODE);
  DPC_SAME_NUMBER(DnnType::numericalNote, CUDNN_TYPE_NUMERICAL_NOTE);
  DPC_SAME_NUMBER(DnnType::descriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR);
  DPC_SAME_NUMBER(DnnType::behaviorNote, CUDNN_TYPE_BEHAVIOR_NOTE);
  DPC_SAME_NUMBER(DnnType::character, CUDNN_TYPE_CHAR);
  DPC_SAME_NUMBER(DnnAttribute::convolutionComputeType, CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  DPC_SAME_NUMBER(DnnAttribute::convolutionMode, CUDNN_ATTR_CONVOLUTION_CONV_MODE);
  DPC_SAME_NUMBER(DnnAttribute::convolutionDilations, CUDNN_ATTR_CONVOLUTION_DILATIONS);
  DPC_SAME_NUMBER(DnnAttribute::convolutionStrides, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  DPC_SAME_NUMBER(DnnAttribute::convolutionPadHigh, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  DPC_SAME_NUMBER(DnnAttribute::convolutionPadLow, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  DPC_SAME_NUMBER(DnnAttribute::convolutionSpatial, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
  DPC_SAME_NUMBER(DnnAttribute::heuristicMode, CUDNN_ATTR_ENGINEHEUR_MODE);
  DPC_SAME_NUMBER(DnnAttribute::heuristicGraph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  DPC_SAME_NUMBER(DnnAttribute::heuristicResults, CUDNN_ATTR_ENGINEHEUR_RESULTS);
  DPC_SAME_NUMBER(DnnAttribute::heuristicDevice, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
  DPC_SAME_NUMBER(DnnAttribute::configEngine, CUDNN_ATTR_ENGINECFG_ENGINE);
  DPC_SAME_NUMBER(DnnAttribute::configWorkspace, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE);
  DPC_SAME_NUMBER(DnnAttribute::planHandle, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
  DPC_SAME_NUMBER(DnnAttribute::planConfig, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  DPC_SAME_NUMBER(DnnAttribute::planWorkspace, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  DPC_SAME_NUMBER(DnnAttribute::planText, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
  DPC_SAME_NUMBER(DnnAttribute::planDevice, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
  DPC_SAME_NUMBER(DnnAttribute::forwardAlpha, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA);
  DPC_SAME_NUMBER(DnnAttribute::forwardBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
  DPC_SAME_NUMBER(DnnAttribute::forwardConvolution,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
  DPC_SAME_NUMBER(DnnAttribute::forwardW, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
  DPC_SAME_NUMBER(DnnAttribute::forwardX, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
  DPC_SAME_NUMBER(DnnAttribute::forwardY, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
  DPC_SAME_NUMBER(DnnAttribute::inputGradientAlpha,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA);
  DPC_SAME_NUMBER(DnnAttribute::inputGradientBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA);
  DPC_SAME_NUMBER(DnnAttribute::inputGradientConvolution,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC);
  DPC_SAME_NUMBER(DnnAttribute::inputGradientW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W);
  DPC_SAME_NUMBER(DnnAttribute::inputGradientX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX);
  DPC_SAME_NUMBER(DnnAttribute::inputGradientY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
  DPC_SAME_NUMBER(DnnAttribute::weightGradientAlpha,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA);
  DPC_SAME_NUMBER(DnnAttribute::weightGradientBeta,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA);
  DPC_SAME_NUMBER(DnnAttribute::weightGradientConvolution,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC);
  DPC_SAME_NUMBER(DnnAttribute::weightGradientW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
  DPC_SAME_NUMBER(DnnAttribute::weightGradientX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X);
  DPC_SAME_NUMBER(DnnAttribute::weightGradientY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
  DPC_SAME_NUMBER(DnnAttribute::graphHandle, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  DPC_SAME_NUMBER(DnnAttribute::graphOperations, CUDNN_ATTR_OPERATIONGRAPH_OPS);
  DPC_SAME_NUMBER(DnnAttribute::tensorAlignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  DPC_SAME_NUMBER(DnnAttribute::tensorType, CUDNN_ATTR_TENSOR_DATA_TYPE);
  DPC_SAME_NUMBER(DnnAttribute::tensorExtents, CUDNN_ATTR_TENSOR_DIMENSIONS);
  DPC_SAME_NUMBER(DnnAttribute::tensorStrides, CUDNN_ATTR_TENSOR_STRIDES);
  DPC_SAME_NUMBER(DnnAttribute::tensorId, CUDNN_ATTR_TENSOR_UNIQUE_ID);
  DPC_SAME_NUMBER(DnnAttribute::variantIds, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  DPC_SAME_NUMBER(DnnAttribute::variantPointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  DPC_SAME_NUMBER(DnnAttribute::variantWorkspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  DPC_SAME_NUMBER(DnnAttribute::engineGraph, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  DPC_SAME_NUMBER(DnnAttribute::engineIndex, CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  DPC_SAME_NUMBER(DnnAttribute::engineNumericalNotes, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
  DPC_SAME_NUMBER(DnnAttribute::engineBehaviorNotes, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE);
  DPC_SAME_NUMBER(DnnAttribute::deviceText, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
  DPC_SAME_NUMBER(DnnNumericalNote::tensorCore, CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  DPC_SAME_NUMBER(DnnNumericalNote::downConvertInputs, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
  DPC_SAME_NUMBER(DnnNumericalNote::reducedPrecisionReduction,
                  CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION);
  DPC_SAME_NUMBER(DnnNumericalNote::fft, CUDNN_NUMERICAL_NOTE_FFT);
  DPC_SAME_NUMBER(DnnNumericalNote::nondeterministic, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
  DPC_SAME_NUMBER(DnnNumericalNote::winograd, CUDNN_NUMERICAL_NOTE_WINOGRAD);
  DPC_SAME_NUMBER(DnnBehaviorNote::runtimeCompilation, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION);
  DPC_SAME_NUMBER(DnnHeuristicMode::a, CUDNN_HEUR_MODE_A);
  DPC_SAME_NUMBER(DnnHeuristicMode::b, CUDNN_HEUR_MODE_B);
  DPC_SAME_NUMBER(DnnHeuristicMode::fallback, CUDNN_HEUR_MODE_FALLBACK);
}

#endif // DPC_HAS_CUDNN_HEADERS
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

#if !defined(DPC_HAS_CUDA_HEADERS) || !defined(DPC_HAS_CUDNN_HEADERS) ||                           \
    !defined(DPC_HAS_NCCL_HEADER)
TEST(CudaDeclarations, HeadersAreThere) {
  GTEST_SKIP() << "CUDA's headers are not installed: nothing to compare with";
}
#endif

} // namespace

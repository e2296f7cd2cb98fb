#ifndef DPC_RUNTIME_SRC_CUDA_CUDNN_H
#define DPC_RUNTIME_SRC_CUDA_CUDNN_H

// Declarations of the part of cuDNN 9 that dpc uses: its graph (backend) API. dpc declares them
// itself, because it must build on machines without CUDA. If NVIDIA's headers are installed,
// CudaDeclarationsTest compares the declarations with them. Reference: NVIDIA, "cuDNN Backend
// API", part "cudnn_graph library".

#include "runtime/src/cuda/Driver.h"

namespace dpc::cuda {

/// cudnnStatus_t. Each thousand is a category; this list has the statuses that dpc or the emulated
/// library name.
enum class DnnStatus : int {
  success = 0,
  notInitialized = 1001,
  badParameter = 2000,
  nullPointer = 2002,
  notFinalized = 2004,
  outOfBound = 2005,
  tooSmall = 2006,
  shapeMismatch = 2008,
  attributeType = 2010,
  descriptorType = 2012,
  notSupported = 3000,
  internalError = 4000,
  executionFailed = 5000,
};

/// cudnnDataType_t.
enum class DnnDataType : int { f32 = 0, f64 = 1, f16 = 2, bf16 = 9 };
/// cudnnConvolutionMode_t.
enum class DnnConvolutionMode : int { convolution = 0, crossCorrelation = 1 };

/// cudnnBackendDescriptorType_t.
enum class DnnDescriptorType : int {
  convolution = 1,
  engine = 2,
  engineConfig = 3,
  engineHeuristic = 4,
  executionPlan = 5,
  operationForward = 10,
  operationWeightGradient = 11,
  operationInputGradient = 12,
  operationGraph = 15,
  variantPack = 16,
  tensor = 17,
  deviceProperties = 38,
};

/// cudnnBackendAttributeType_t.
enum class DnnType : int {
  handle = 0,
  dataType = 1,
  boolean = 2,
  i64 = 3,
  f32 = 4,
  f64 = 5,
  pointer = 6,
  convolutionMode = 7,
  heuristicMode = 8,
  numericalNote = 11,
  descriptor = 15,
  behaviorNote = 19,
  character = 24,
};

/// cudnnBackendAttributeName_t. The type and the number of elements are in the comments.
enum class DnnAttribute : int {
  convolutionComputeType = 100, // DnnDataType
  convolutionMode = 101,        // DnnConvolutionMode
  convolutionDilations = 102,   // i64 per spatial dimension
  convolutionStrides = 103,     // i64 per spatial dimension
  convolutionPadHigh = 104,     // i64 per spatial dimension
  convolutionPadLow = 105,      // i64 per spatial dimension
  convolutionSpatial = 106,     // i64, the number of spatial dimensions
  heuristicMode = 200,          // DnnHeuristicMode
  heuristicGraph = 201,         // descriptor
  heuristicResults = 202,       // descriptors of engine configurations
  heuristicDevice = 204,        // descriptor of device properties
  configEngine = 300,           // descriptor
  configWorkspace = 303,        // i64, bytes
  planHandle = 400,             // handle
  planConfig = 401,             // descriptor
  planWorkspace = 402,          // i64, bytes
  planText = 405,               // characters, JSON
  planDevice = 407,             // descriptor of device properties
  forwardAlpha = 700,           // f32, or f64 if the compute type is f64
  forwardBeta = 701,
  forwardConvolution = 702, // descriptor, as all that follow
  forwardW = 703,
  forwardX = 704,
  forwardY = 705,
  inputGradientAlpha = 706,
  inputGradientBeta = 707,
  inputGradientConvolution = 708,
  inputGradientW = 709,
  inputGradientX = 710,
  inputGradientY = 711,
  weightGradientAlpha = 712,
  weightGradientBeta = 713,
  weightGradientConvolution = 714,
  weightGradientW = 715,
  weightGradientX = 716,
  weightGradientY = 717,
  graphHandle = 800,           // handle
  graphOperations = 801,       // descriptors
  tensorAlignment = 900,       // i64, bytes
  tensorType = 901,            // DnnDataType
  tensorExtents = 902,         // i64 per dimension
  tensorStrides = 903,         // i64 per dimension, in elements
  tensorId = 906,              // i64
  variantIds = 1000,           // i64 per tensor
  variantPointers = 1001,      // pointer per tensor, in the order of the ids
  variantWorkspace = 1003,     // pointer
  engineGraph = 1300,          // descriptor
  engineIndex = 1301,          // i64
  engineNumericalNotes = 1303, // DnnNumericalNote
  engineBehaviorNotes = 1305,  // DnnBehaviorNote
  deviceText = 2702,           // characters, JSON
};

/// cudnnBackendNumericalNote_t.
enum class DnnNumericalNote : int {
  tensorCore = 0,
  downConvertInputs = 1,
  reducedPrecisionReduction = 2,
  fft = 3,
  nondeterministic = 4,
  winograd = 5,
};

/// cudnnBackendBehaviorNote_t.
enum class DnnBehaviorNote : int { runtimeCompilation = 0 };

/// cudnnBackendHeurMode_t.
enum class DnnHeuristicMode : int { b = 1, fallback = 2, a = 3 };

using DnnHandle = struct cudnnContext *;
using DnnDescriptorPointer = void *;

// clang-format off
/// X(return type, name, parameters) for every function of cuDNN that dpc uses.
#define DPC_CUDNN_FUNCTIONS(X)                                                                     \
  X(size_t, cudnnGetVersion, ())                                                                   \
  X(const char *, cudnnGetErrorString, (DnnStatus status))                                         \
  X(void, cudnnGetLastErrorString, (char *message, size_t bytes))                                  \
  X(DnnStatus, cudnnCreate, (DnnHandle *handle))                                                   \
  X(DnnStatus, cudnnDestroy, (DnnHandle handle))                                                   \
  X(DnnStatus, cudnnSetStream, (DnnHandle handle, Stream stream))                                  \
  X(DnnStatus, cudnnBackendCreateDescriptor, (DnnDescriptorType type, DnnDescriptorPointer *descriptor)) \
  X(DnnStatus, cudnnBackendDestroyDescriptor, (DnnDescriptorPointer descriptor))                   \
  X(DnnStatus, cudnnBackendFinalize, (DnnDescriptorPointer descriptor))                            \
  X(DnnStatus, cudnnBackendSetAttribute, (DnnDescriptorPointer descriptor, DnnAttribute attribute, DnnType type, int64_t count, const void *elements)) \
  X(DnnStatus, cudnnBackendGetAttribute, (DnnDescriptorPointer descriptor, DnnAttribute attribute, DnnType type, int64_t requested, int64_t *count, void *elements)) \
  X(DnnStatus, cudnnBackendExecute, (DnnHandle handle, DnnDescriptorPointer plan, DnnDescriptorPointer variantPack))
// clang-format on

} // namespace dpc::cuda

#endif // DPC_RUNTIME_SRC_CUDA_CUDNN_H

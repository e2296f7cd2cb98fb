#ifndef DPC_RUNTIME_SRC_CUDA_DRIVER_H
#define DPC_RUNTIME_SRC_CUDA_DRIVER_H

// Declarations of the part of the CUDA driver API that dpc uses. dpc declares them
// itself, because it must build on machines without CUDA. Every function has the
// name of its symbol in libcuda.so.1, including the version suffix. If NVIDIA's
// headers are installed, CudaDeclarationsTest compares the declarations with them.
// Reference: NVIDIA, "CUDA Driver API".

#include <cstddef>
#include <cstdint>

namespace dpc::cuda {

/// The values of CUresult that dpc distinguishes.
enum class Result : int {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  noDevice = 100,
  invalidDevice = 101,
  invalidImage = 200,
  invalidContext = 201,
  noBinaryForGpu = 209,
  invalidPtx = 218,
  unsupportedPtxVersion = 222,
  invalidHandle = 400,
  notFound = 500,
  notReady = 600,
  illegalAddress = 700,
  launchOutOfResources = 701,
  hostMemoryAlreadyRegistered = 712,
  hostMemoryNotRegistered = 713,
  misalignedAddress = 716,
  launchFailed = 719,
  notPermitted = 800,
  notSupported = 801,
  systemDriverMismatch = 803,
  streamCaptureUnsupported = 900,
  streamCaptureInvalidated = 901,
  streamCaptureUnmatched = 903,
  streamCaptureUnjoined = 904,
  streamCaptureImplicit = 906,
  streamCaptureWrongThread = 908,
  unknown = 999,
};

/// CUdevice_attribute.
enum class DeviceAttribute : int {
  maxThreadsPerBlock = 1,
  maxSharedMemoryPerBlock = 8,
  warpSize = 10,
  maxRegistersPerBlock = 12,
  multiprocessorCount = 16,
  computeMode = 20,
  l2CacheBytes = 38,
  maxThreadsPerMultiprocessor = 39,
  computeCapabilityMajor = 75,
  computeCapabilityMinor = 76,
  maxSharedMemoryPerMultiprocessor = 81,
  maxSharedMemoryPerBlockOptin = 97,
};

/// CUfunction_attribute.
enum class FunctionAttribute : int {
  maxThreadsPerBlock = 0,
  staticSharedBytes = 1,
  localBytes = 3,
  registers = 4,
  maxDynamicSharedBytes = 8,
};

/// CUjit_option.
enum class JitOption : int { errorLog = 5, errorLogBytes = 6 };
/// CUstreamCaptureMode.
enum class CaptureMode : int { global = 0, threadLocal = 1, relaxed = 2 };
/// CUstreamCaptureStatus.
enum class CaptureStatus : int { none = 0, active = 1, invalidated = 2 };
/// CUgraphNodeType.
enum class NodeType : int {
  kernel = 0,
  memcpy = 1,
  memset = 2,
  host = 3,
  child = 4,
  empty = 5,
  waitEvent = 6,
  eventRecord = 7,
};

inline constexpr unsigned kStreamNonBlocking = 1;    // CU_STREAM_NON_BLOCKING
inline constexpr unsigned kEventDisableTiming = 2;   // CU_EVENT_DISABLE_TIMING
inline constexpr unsigned kHostRegisterPortable = 1; // CU_MEMHOSTREGISTER_PORTABLE
/// CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY: each node has the priority of the stream from
/// which it was captured. Without it, all nodes have that of the stream that launches the graph.
inline constexpr unsigned long long kGraphUseNodePriority = 8;

using Device = int;
using DevicePointer = unsigned long long;
using Context = struct CUctx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *;
using Event = struct CUevent_st *;
using Graph = struct CUgraph_st *;
using GraphNode = struct CUgraphNode_st *;
using GraphExec = struct CUgraphExec_st *;
using HostFunction = void (*)(void *);

/// CUuuid.
struct Uuid {
  char bytes[16];
};

// clang-format off
/// X(return type, name, parameters) for every function of the driver that dpc
/// uses.
#define DPC_CUDA_DRIVER_FUNCTIONS(X)                                                               \
  X(Result, cuInit, (unsigned flags))                                                              \
  X(Result, cuDriverGetVersion, (int *version))                                                    \
  X(Result, cuGetErrorName, (Result error, const char **name))                                     \
  X(Result, cuGetErrorString, (Result error, const char **text))                                   \
  X(Result, cuDeviceGetCount, (int *count))                                                        \
  X(Result, cuDeviceGet, (Device *device, int ordinal))                                            \
  X(Result, cuDeviceGetName, (char *name, int bytes, Device device))                               \
  X(Result, cuDeviceGetUuid_v2, (Uuid *uuid, Device device))                                       \
  X(Result, cuDeviceGetAttribute, (int *value, DeviceAttribute attribute, Device device))          \
  X(Result, cuDeviceTotalMem_v2, (size_t *bytes, Device device))                                   \
  X(Result, cuDevicePrimaryCtxRetain, (Context *context, Device device))                           \
  X(Result, cuDevicePrimaryCtxRelease_v2, (Device device))                                         \
  X(Result, cuCtxSetCurrent, (Context context))                                                    \
  X(Result, cuCtxSynchronize, ())                                                                  \
  X(Result, cuCtxGetStreamPriorityRange, (int *least, int *greatest))                              \
  X(Result, cuMemGetInfo_v2, (size_t *freeBytes, size_t *totalBytes))                              \
  X(Result, cuMemAlloc_v2, (DevicePointer *pointer, size_t bytes))                                 \
  X(Result, cuMemFree_v2, (DevicePointer pointer))                                                 \
  X(Result, cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags))                        \
  X(Result, cuMemFreeHost, (void *pointer))                                                        \
  X(Result, cuMemHostRegister_v2, (void *pointer, size_t bytes, unsigned flags))                   \
  X(Result, cuMemHostUnregister, (void *pointer))                                                  \
  X(Result, cuMemcpyHtoDAsync_v2, (DevicePointer to, const void *from, size_t bytes, Stream stream)) \
  X(Result, cuMemcpyDtoHAsync_v2, (void *to, DevicePointer from, size_t bytes, Stream stream))     \
  X(Result, cuMemcpyDtoDAsync_v2, (DevicePointer to, DevicePointer from, size_t bytes, Stream stream)) \
  X(Result, cuMemsetD8Async, (DevicePointer to, unsigned char value, size_t count, Stream stream)) \
  X(Result, cuMemsetD32Async, (DevicePointer to, unsigned value, size_t count, Stream stream))     \
  X(Result, cuModuleLoadDataEx, (Module *module, const void *image, unsigned options, JitOption *names, void **values)) \
  X(Result, cuModuleUnload, (Module module))                                                       \
  X(Result, cuModuleGetFunction, (Function *function, Module module, const char *name))            \
  X(Result, cuFuncGetAttribute, (int *value, FunctionAttribute attribute, Function function))      \
  X(Result, cuFuncSetAttribute, (Function function, FunctionAttribute attribute, int value))       \
  X(Result, cuLaunchKernel, (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void **parameters, void **extra)) \
  X(Result, cuLaunchHostFunc, (Stream stream, HostFunction function, void *data))                  \
  X(Result, cuStreamCreateWithPriority, (Stream *stream, unsigned flags, int priority))            \
  X(Result, cuStreamDestroy_v2, (Stream stream))                                                   \
  X(Result, cuStreamSynchronize, (Stream stream))                                                  \
  X(Result, cuStreamQuery, (Stream stream))                                                        \
  X(Result, cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                       \
  X(Result, cuEventCreate, (Event *event, unsigned flags))                                         \
  X(Result, cuEventDestroy_v2, (Event event))                                                      \
  X(Result, cuEventRecord, (Event event, Stream stream))                                           \
  X(Result, cuEventQuery, (Event event))                                                           \
  X(Result, cuEventSynchronize, (Event event))                                                     \
  X(Result, cuEventElapsedTime, (float *milliseconds, Event from, Event to))                       \
  X(Result, cuStreamBeginCapture_v2, (Stream stream, CaptureMode mode))                            \
  X(Result, cuStreamEndCapture, (Stream stream, Graph *graph))                                     \
  X(Result, cuStreamIsCapturing, (Stream stream, CaptureStatus *status))                           \
  X(Result, cuGraphGetNodes, (Graph graph, GraphNode *nodes, size_t *count))                       \
  X(Result, cuGraphNodeGetType, (GraphNode node, NodeType *type))                                  \
  X(Result, cuGraphDestroy, (Graph graph))                                                         \
  X(Result, cuGraphInstantiateWithFlags, (GraphExec *exec, Graph graph, unsigned long long flags)) \
  X(Result, cuGraphLaunch, (GraphExec exec, Stream stream))                                        \
  X(Result, cuGraphExecDestroy, (GraphExec exec))
// clang-format on

} // namespace dpc::cuda

#endif // DPC_RUNTIME_SRC_CUDA_DRIVER_H

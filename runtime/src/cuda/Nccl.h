#ifndef DPC_RUNTIME_SRC_CUDA_NCCL_H
#define DPC_RUNTIME_SRC_CUDA_NCCL_H

// Declarations of the part of NCCL 2.19 and later that dpc uses. dpc declares them
// itself, because it must build on machines without CUDA. If NVIDIA's header is
// installed, CudaDeclarationsTest compares the declarations with it. Reference:
// NVIDIA, "NCCL API".

#include "runtime/src/cuda/Driver.h"

#include <climits>

namespace dpc::cuda {

/// ncclResult_t.
enum class NcclResult : int {
  success = 0,
  unhandledCudaError = 1,
  systemError = 2,
  internalError = 3,
  invalidArgument = 4,
  invalidUsage = 5,
  remoteError = 6,
  inProgress = 7,
};

/// ncclDataType_t.
enum class NcclType : int {
  i8 = 0,
  u8 = 1,
  i32 = 2,
  u32 = 3,
  i64 = 4,
  u64 = 5,
  f16 = 6,
  f32 = 7,
  f64 = 8,
  bf16 = 9,
};

/// ncclRedOp_t.
enum class NcclReduction : int { sum = 0, product = 1, max = 2, min = 3, average = 4 };

inline constexpr int kNcclNoColor = -1;        // NCCL_SPLIT_NOCOLOR
inline constexpr int kNcclUndefined = INT_MIN; // NCCL_CONFIG_UNDEF_INT
inline constexpr unsigned kNcclMagic = 0xcafebeef;

/// ncclUniqueId.
struct NcclId {
  char bytes[128];
};

/// The first fields of ncclConfig_t, as NCCL 2.18 had them. A later library sees
/// from `size` that its newer fields are missing, and uses their defaults.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = kNcclMagic;
  unsigned version = 21800;
  int blocking = kNcclUndefined;
  int cgaClusterSize = kNcclUndefined;
  int minCtas = kNcclUndefined;
  int maxCtas = kNcclUndefined;
  const char *netName = nullptr;
  int splitShare = kNcclUndefined;
  int next = kNcclUndefined; // padding in 2.18; in later versions, the first newer field
};

using NcclComm = struct ncclComm *;

// clang-format off
/// X(return type, name, parameters) for every function of NCCL that dpc uses.
#define DPC_NCCL_FUNCTIONS(X)                                                                      \
  X(NcclResult, ncclGetVersion, (int *version))                                                    \
  X(NcclResult, ncclGetUniqueId, (NcclId *id))                                                     \
  X(NcclResult, ncclCommInitRankConfig, (NcclComm *comm, int ranks, NcclId id, int rank, NcclConfig *config)) \
  X(NcclResult, ncclCommSplit, (NcclComm comm, int color, int key, NcclComm *part, NcclConfig *config)) \
  X(NcclResult, ncclCommFinalize, (NcclComm comm))                                                 \
  X(NcclResult, ncclCommDestroy, (NcclComm comm))                                                  \
  X(NcclResult, ncclCommAbort, (NcclComm comm))                                                    \
  X(NcclResult, ncclCommGetAsyncError, (NcclComm comm, NcclResult *error))                         \
  X(NcclResult, ncclCommCount, (NcclComm comm, int *ranks))                                        \
  X(NcclResult, ncclCommUserRank, (NcclComm comm, int *rank))                                      \
  X(NcclResult, ncclCommRegister, (NcclComm comm, void *buffer, size_t bytes, void **handle))      \
  X(NcclResult, ncclCommDeregister, (NcclComm comm, void *handle))                                 \
  X(const char *, ncclGetErrorString, (NcclResult result))                                         \
  X(const char *, ncclGetLastError, (NcclComm comm))                                               \
  X(NcclResult, ncclGroupStart, ())                                                                \
  X(NcclResult, ncclGroupEnd, ())                                                                  \
  X(NcclResult, ncclAllReduce, (const void *from, void *to, size_t count, NcclType type, NcclReduction reduction, NcclComm comm, Stream stream)) \
  X(NcclResult, ncclReduceScatter, (const void *from, void *to, size_t perRank, NcclType type, NcclReduction reduction, NcclComm comm, Stream stream)) \
  X(NcclResult, ncclAllGather, (const void *from, void *to, size_t perRank, NcclType type, NcclComm comm, Stream stream)) \
  X(NcclResult, ncclBroadcast, (const void *from, void *to, size_t count, NcclType type, int root, NcclComm comm, Stream stream)) \
  X(NcclResult, ncclReduce, (const void *from, void *to, size_t count, NcclType type, NcclReduction reduction, int root, NcclComm comm, Stream stream)) \
  X(NcclResult, ncclSend, (const void *from, size_t count, NcclType type, int peer, NcclComm comm, Stream stream)) \
  X(NcclResult, ncclRecv, (void *to, size_t count, NcclType type, int peer, NcclComm comm, Stream stream))
// clang-format on

} // namespace dpc::cuda

#endif // DPC_RUNTIME_SRC_CUDA_NCCL_H

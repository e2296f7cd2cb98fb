// Moves tensors between CUDA devices by NCCL. Reference: NVIDIA, "NCCL API".

#include "runtime/src/device/NcclComm.h"

#include "dpc/action.h"
#include "runtime/src/base/Clock.h"
#include "runtime/src/base/OperationNames.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/ControlMessages.h"
#include "runtime/src/recorder/Recorder.h"

#include <cstring>
#include <optional>
#include <unistd.h>

namespace dpc {

namespace {

/// NCCL's type for the elements of a reduction. nullopt if NCCL does not have the
/// type, or if programs do not reduce it.
std::optional<cuda::NcclType> typeOf(uint32_t dtype) {
  switch (dtype) {
  case DPC_F64:
    return cuda::NcclType::f64;
  case DPC_F32:
    return cuda::NcclType::f32;
  case DPC_F16:
    return cuda::NcclType::f16;
  case DPC_BF16:
    return cuda::NcclType::bf16;
  case DPC_I64:
    return cuda::NcclType::i64;
  case DPC_I32:
    return cuda::NcclType::i32;
  case DPC_I8:
    return cuda::NcclType::i8;
  case DPC_U8:
    return cuda::NcclType::u8;
  default:
    return std::nullopt;
  }
}

cuda::NcclReduction reductionOf(uint32_t reduction) {
  return reduction == DPC_MAX   ? cuda::NcclReduction::max
         : reduction == DPC_MIN ? cuda::NcclReduction::min
                                : cuda::NcclReduction::sum;
}

bool reduces(uint32_t op) {
  return op == DPC_OP_ALL_REDUCE || op == DPC_OP_REDUCE || op == DPC_OP_REDUCE_SCATTER;
}

} // namespace

NcclComm::~NcclComm() {
  // If an operation waits for a failed peer, only an abort ends it.
  if (isBusy)
    giveUp();
  if (stream)
    parts.device.driver.cuStreamSynchronize(stream);
  if (registration && !owned.empty())
    nccl.ncclCommDeregister(owned.front(), registration);
  giveUp();
  if (flag)
    parts.device.driver.cuMemFree_v2(flag);
}

void NcclComm::giveUp() {
  // ncclCommAbort does not wait for peers, whereas ncclCommDestroy would. All
  // communicators are aborted as one group, because an operation of one may wait
  // for an operation of another.
  if (owned.empty())
    return;
  nccl.ncclGroupStart();
  for (cuda::NcclComm comm : owned)
    nccl.ncclCommAbort(comm);
  nccl.ncclGroupEnd();
  registration = nullptr;
  owned.clear();
  comms.assign(comms.size(), nullptr);
}

dpc_status_t NcclComm::checkCall(cuda::NcclResult result, cuda::NcclComm comm, const char *what) {
  if (result == cuda::NcclResult::success)
    return DPC_OK;
  if (result == cuda::NcclResult::inProgress)
    return awaitReady(comm, what);
  const char *detail = comm ? nccl.ncclGetLastError(comm) : nullptr;
  return fail(DPC_INVALID, "rank %u: NCCL: %s: %s%s%s", parts.control.rank, what,
              nccl.ncclGetErrorString(result), detail && *detail ? ": " : "", detail ? detail : "");
}

dpc_status_t NcclComm::awaitReady(cuda::NcclComm comm, const char *what) {
  const double begin = monotonicSeconds();
  for (;;) {
    cuda::NcclResult state = cuda::NcclResult::success;
    const cuda::NcclResult asked = nccl.ncclCommGetAsyncError(comm, &state);
    if (asked != cuda::NcclResult::success)
      state = asked;
    if (state != cuda::NcclResult::inProgress)
      return checkCall(state, comm, what);
    if (dpc_status_t status = parts.control.vtable->check(&parts.control))
      return status;
    if (monotonicSeconds() - begin > parts.timeoutSeconds)
      return fail(DPC_PEER, "NCCL: %s has not ended for %.0f s", what, parts.timeoutSeconds);
    // Polls without a pause during the first 50 us, because a call that only
    // enqueues an operation ends in this time.
    if (monotonicSeconds() - begin > 50e-6)
      ::usleep(100);
  }
}

/// Fails if two ranks use the same device. NCCL requires one device per rank,
/// because ranks on one device would wait for each other.
dpc_status_t NcclComm::checkDevices() {
  const uint32_t ranks = parts.control.world_size;
  cuda::Uuid own;
  if (dpc_status_t status = parts.device.readId(&own))
    return status;
  std::vector<cuda::Uuid> ids(ranks);
  if (dpc_status_t status =
          gatherControl(parts.control, parts.window, &own, sizeof own, ids.data()))
    return status;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    for (uint32_t other = rank + 1; other < ranks; ++other)
      if (std::memcmp(&ids[rank], &ids[other], sizeof own) == 0)
        return fail(DPC_INVALID,
                    "ranks %u and %u have the same device, and NCCL wants one for each: this run "
                    "has %u ranks (with --comm=local they may share one)",
                    rank, other, ranks);
  return DPC_OK;
}

dpc_status_t NcclComm::connect() {
  const uint32_t ranks = parts.control.world_size, me = parts.control.rank;
  cuda::NcclId id = {};
  if (me == 0)
    if (dpc_status_t status =
            checkCall(nccl.ncclGetUniqueId(&id), nullptr, "making the run's number"))
      return status;
  if (dpc_status_t status = broadcastControl(parts.control, parts.window, &id, sizeof id))
    return status;
  cuda::NcclConfig config;
  config.blocking = 0;
  cuda::NcclComm world = nullptr;
  const cuda::NcclResult made = nccl.ncclCommInitRankConfig(&world, static_cast<int>(ranks), id,
                                                            static_cast<int>(me), &config);
  if (world)
    owned.push_back(world);
  if (dpc_status_t status = checkCall(made, world, "meeting the other ranks"))
    return status;
  if (parts.memoryBytes)
    if (dpc_status_t status =
            checkCall(nccl.ncclCommRegister(
                          world, reinterpret_cast<void *>(parts.device.base(DPC_SPACE_SHARED)),
                          parts.memoryBytes, &registration),
                      world, "registering memory"))
      return status;
  for (uint32_t family = 0; family < parts.groups.size(); ++family) {
    const Group &group = parts.groups[family];
    const bool isAlone = group.members.size() < 2;
    uint32_t inOrder = 0;
    while (inOrder < group.members.size() && group.members[inOrder] == inOrder)
      ++inOrder;
    if (inOrder == ranks) {
      comms[family] = world;
      continue;
    }
    // NCCL creates the group's communicator in a thread of its own, and stores it
    // in `part` when it is ready. This may be after the call of ncclCommSplit has
    // returned. Until then the state of `world` is "in progress".
    const char *what = "making a group of ranks";
    cuda::NcclComm &part = comms[family];
    if (dpc_status_t status = checkCall(
            nccl.ncclCommSplit(world, isAlone ? cuda::kNcclNoColor : static_cast<int>(group.index),
                               static_cast<int>(group.self), &part, &config),
            world, what))
      return status;
    if (dpc_status_t status = awaitReady(world, what))
      return status;
    if (isAlone)
      continue;
    if (!part)
      return fail(DPC_INVALID, "rank %u: NCCL: %s: there is none", parts.control.rank, what);
    owned.push_back(part);
    if (dpc_status_t status = awaitReady(part, what))
      return status;
  }
  return DPC_OK;
}

dpc_status_t NcclComm::open(uint32_t eventCount) {
  if (dpc_status_t status = DeviceComm::open(eventCount))
    return status;
  if (dpc_status_t status = cuda::openNccl(nccl))
    return failWithin(status, "communication between devices (--comm=local does without)");
  comms.resize(parts.groups.size());
  const CudaDevice &device = parts.device;
  if (dpc_status_t status =
          device.check(device.driver.cuMemAlloc_v2(&flag, DPC_ALIGNMENT), "allocating memory"))
    return status;
  if (dpc_status_t status = checkDevices())
    return status;
  if (dpc_status_t status = connect())
    return status;
  // All ranks have opened NCCL when this barrier ends. A rank whose open() failed
  // does not reach it; the hosts notice this and name the rank.
  if (dpc_status_t status = dpc_comm_barrier(&parts.control))
    return status;
  return runFirst();
}

/// Runs the operations that connect the ranks, before anything is captured. The ranks announce each
/// of them, so a rank that does not come is named.
dpc_status_t NcclComm::runFirst() {
  dpc_recorder *recorder = parts.control.recorder;
  const uint64_t before = recorder ? recorder->next() : 0;
  announces = true;
  for (const dpc_comm_op_t &op : parts.first) {
    const uint64_t number = recorder ? recorder->schedule(op) : 0;
    if (dpc_status_t status = start(op, 0))
      return status;
    if (recorder)
      recorder->start(number);
    if (dpc_status_t status = wait(0))
      return status;
  }
  if (parts.first.empty())
    return DPC_OK;
  if (dpc_status_t status = finish())
    return failWithin(status, "the first operations of NCCL");
  if (recorder)
    recorder->finishFrom(before);
  return DPC_OK;
}

dpc_status_t NcclComm::begin(uint32_t number, bool) {
  if (dpc_status_t status = settle()) // of the run before, which may be under way
    return status;
  announces = known.insert(number).second;
  isBusy = true; // the caller may launch a graph
  dpc_comm_op_t op = {};
  op.op = DPC_OP_BARRIER;
  op.dtype = DPC_U8;
  op.peer = DPC_NONE;
  op.buffer_id = number;
  return parts.control.vtable->start(&parts.control, &op, &begun);
}

dpc_status_t NcclComm::settle() {
  if (!begun)
    return DPC_OK;
  const dpc_request_t request = begun;
  begun = 0;
  return parts.control.vtable->wait(&parts.control, request);
}

dpc_status_t NcclComm::announce(dpc_comm_op_t op) {
  op.flags = DPC_COMM_ANNOUNCED;
  dpc_request_t request = 0;
  if (dpc_status_t status = parts.control.vtable->start(&parts.control, &op, &request))
    return status;
  return parts.control.vtable->wait(&parts.control, request);
}

dpc_status_t NcclComm::move(const dpc_comm_op_t &op) {
  if (announces)
    if (dpc_status_t status = announce(op))
      return status;
  return enqueue(op);
}

dpc_status_t NcclComm::copy(const void *from, void *to, uint64_t bytes) {
  if (from == to || bytes == 0)
    return DPC_OK;
  return parts.device.check(parts.device.driver.cuMemcpyDtoDAsync_v2(
                                reinterpret_cast<cuda::DevicePointer>(to),
                                reinterpret_cast<cuda::DevicePointer>(from), bytes, stream),
                            "a copy");
}

dpc_status_t NcclComm::enqueue(const dpc_comm_op_t &op) {
  const cuda::NcclComm comm = comms[op.family];
  const std::optional<cuda::NcclType> reduced = typeOf(op.dtype);
  const uint64_t bytes = op.count * dpc_dtype_size(op.dtype);
  if (op.op == DPC_OP_BARRIER)
    return comm ? checkCall(nccl.ncclAllReduce(
                                reinterpret_cast<void *>(flag), reinterpret_cast<void *>(flag), 1,
                                cuda::NcclType::i32, cuda::NcclReduction::sum, comm, stream),
                            comm, "a barrier")
                : dpc_status_t(DPC_OK);
  if (op.count == 0)
    return DPC_OK;
  if (!comm)
    return copy(op.in, op.out, bytes);
  if (reduces(op.op) && !reduced)
    return fail(DPC_INVALID, "NCCL does not reduce %s", dpc_dtype_name(op.dtype));
  const cuda::NcclReduction reduction = reductionOf(op.reduction);
  const int peer = static_cast<int>(op.peer);
  const auto type = reduced.value_or(cuda::NcclType::u8), byte = cuda::NcclType::u8;
  cuda::NcclResult result = cuda::NcclResult::success;
  switch (op.op) {
  case DPC_OP_ALL_REDUCE:
    result = nccl.ncclAllReduce(op.in, op.out, op.count, type, reduction, comm, stream);
    break;
  case DPC_OP_REDUCE_SCATTER:
    result = nccl.ncclReduceScatter(op.in, op.out, op.count, type, reduction, comm, stream);
    break;
  case DPC_OP_REDUCE:
    result = nccl.ncclReduce(op.in, op.out, op.count, type, reduction, peer, comm, stream);
    break;
  case DPC_OP_ALL_GATHER:
    result = nccl.ncclAllGather(op.in, op.out, bytes, byte, comm, stream);
    break;
  case DPC_OP_BROADCAST:
    result = nccl.ncclBroadcast(op.in, op.out, bytes, byte, peer, comm, stream);
    break;
  case DPC_OP_SEND:
    result = nccl.ncclSend(op.in, bytes, byte, peer, comm, stream);
    break;
  case DPC_OP_RECV:
    result = nccl.ncclRecv(op.out, bytes, byte, peer, comm, stream);
    break;
  default:
    return enqueueParts(op, comm);
  }
  return checkCall(result, comm, opName(op.op));
}

/// Enqueues a gather, scatter or all-to-all. NCCL has no such collectives, so they
/// are made of messages. A copy moves the part that stays on this rank.
dpc_status_t NcclComm::enqueueParts(const dpc_comm_op_t &op, cuda::NcclComm comm) {
  const Group &group = parts.groups[op.family];
  const uint64_t bytes = op.count * dpc_dtype_size(op.dtype);
  const bool isRoot = group.self == op.peer, isAll = op.op == DPC_OP_ALL_TO_ALL;
  const char *in = static_cast<const char *>(op.in);
  char *out = static_cast<char *>(op.out);
  const bool sendsParts = isAll || (op.op == DPC_OP_SCATTER && isRoot),
             takesParts = isAll || (op.op == DPC_OP_GATHER && isRoot);
  const auto byte = cuda::NcclType::u8;
  const char *name = opName(op.op);
  if (dpc_status_t status = checkCall(nccl.ncclGroupStart(), comm, name))
    return status;
  for (uint32_t member = 0; member < group.members.size(); ++member) {
    if (member == group.self)
      continue;
    const int peer = static_cast<int>(member);
    if (sendsParts || (op.op == DPC_OP_GATHER && member == op.peer))
      if (dpc_status_t status = checkCall(nccl.ncclSend(in + (sendsParts ? member * bytes : 0),
                                                        bytes, byte, peer, comm, stream),
                                          comm, name))
        return status;
    if (takesParts || (op.op == DPC_OP_SCATTER && member == op.peer))
      if (dpc_status_t status = checkCall(nccl.ncclRecv(out + (takesParts ? member * bytes : 0),
                                                        bytes, byte, peer, comm, stream),
                                          comm, name))
        return status;
  }
  if (dpc_status_t status = checkCall(nccl.ncclGroupEnd(), comm, name))
    return status;
  if (!sendsParts && !takesParts)
    return DPC_OK;
  return copy(in + (sendsParts ? group.self * bytes : 0),
              out + (takesParts ? group.self * bytes : 0), bytes);
}

dpc_status_t NcclComm::check() {
  if (dpc_status_t status = parts.control.vtable->check(&parts.control))
    return status;
  for (cuda::NcclComm comm : owned) {
    cuda::NcclResult state = cuda::NcclResult::success;
    nccl.ncclCommGetAsyncError(comm, &state);
    if (state == cuda::NcclResult::success || state == cuda::NcclResult::inProgress)
      continue;
    // NCCL does not say which rank failed. The hosts find that out within kHearing
    // seconds, so wait for their message.
    constexpr double kHearing = 12;
    const bool isElsewhere = state == cuda::NcclResult::remoteError;
    for (const double begin = monotonicSeconds();
         isElsewhere && monotonicSeconds() - begin < kHearing; ::usleep(1000))
      if (dpc_status_t status = parts.control.vtable->check(&parts.control))
        return status;
    return checkCall(state, comm, "moving tensors");
  }
  return DPC_OK;
}

} // namespace dpc

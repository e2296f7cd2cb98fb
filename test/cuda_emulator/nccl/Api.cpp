// NCCL between processes of one machine, each with an emulated device.
#include "test/cuda_emulator/driver/Api.h"
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/nccl/Communicator.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <unistd.h>
#include <vector>

using namespace dpc::cuda;
using namespace dpc::emulator;

namespace dpc::cuda {
extern "C" {
DPC_NCCL_FUNCTIONS(DPC_EMU_DECLARE)
}
} // namespace dpc::cuda

static Communicator *stateOf(NcclComm comm) { return reinterpret_cast<Communicator *>(comm); }

namespace {
/// What a thread has called since ncclGroupStart.
struct Group {
  struct Entry {
    Transfer transfer;
    Stream stream;
  };
  int depth = 0;
  std::vector<Entry> entries;
  std::vector<Communicator *> aborted; // together: one may wait for another's operations
};
} // namespace

static Group &group() {
  static thread_local Group current;
  return current;
}

/// Notes that an operation connects ranks. Some network plugins cannot connect during a capture.
static void connect(const Transfer &transfer, bool isCaptured) {
  const Collective &what = transfer.what;
  Communicator &comm = *transfer.communicator;
  const bool isMessage = what.kind >= CollectiveKind::send;
  const auto kind = std::make_pair(what.kind, isMessage ? what.root : 0);
  if (!isCaptured)
    comm.connected.insert(kind);
  else if (Options::get().ncclKnown && !comm.connected.count(kind))
    fail("nccl: rank %d of %d: the first %s%s is captured: it connects ranks", comm.rank,
         comm.ranks, nameOf(what.kind),
         isMessage ? (" with rank " + std::to_string(what.root)).c_str() : "");
}

/// Gives the streams what was grouped: one piece of work a stream.
static NcclResult flush() {
  std::vector<Communicator *> aborted = std::move(group().aborted);
  group().aborted.clear();
  // Operations under way end with an error, as the communicators are marked. Those of a lost
  // context do too.
  if (!aborted.empty())
    dpcEmulatorFinish();
  for (Communicator *each : aborted)
    delete each;
  std::vector<Group::Entry> entries = std::move(group().entries);
  group().entries.clear();
  while (!entries.empty()) {
    const Stream stream = entries.front().stream;
    auto batch = std::make_unique<std::vector<Transfer>>();
    std::vector<Group::Entry> others;
    CaptureStatus capture = CaptureStatus::none;
    cuStreamIsCapturing(stream, &capture);
    for (Group::Entry &entry : entries) {
      if (entry.stream != stream) {
        others.push_back(entry);
        continue;
      }
      batch->push_back(entry.transfer);
      entry.transfer.communicator->wasCaptured |= capture == CaptureStatus::active;
      if (capture == CaptureStatus::active)
        dpcEmulatorCount("nccl-captured");
      connect(entry.transfer, capture == CaptureStatus::active);
    }
    entries = std::move(others);
    dpcEmulatorEnqueue(
        stream, [](void *data) { execute(*static_cast<const std::vector<Transfer> *>(data)); },
        [](void *data) { delete static_cast<std::vector<Transfer> *>(data); }, batch.release());
  }
  return NcclResult::success;
}

/// `fromCount` and `toCount` are elements of the buffers on this rank.
static NcclResult submit(Collective what, const void *from, size_t fromCount, void *to,
                         size_t toCount, NcclComm comm, Stream stream) {
  if (!comm)
    return NcclResult::invalidArgument;
  Communicator &state = *stateOf(comm);
  if (state.error != NcclResult::success)
    return state.error == NcclResult::inProgress ? NcclResult::invalidArgument : state.error.load();
  if (what.root < 0 || what.root >= state.ranks)
    return NcclResult::invalidArgument;
  const unsigned width = bytesOf(what.type);
  const char *source = nullptr;
  char *target = nullptr;
  if (fromCount)
    source =
        static_cast<const char *>(dpcEmulatorReach(from, fromCount * width, "what NCCL sends"));
  if (toCount)
    target = static_cast<char *>(dpcEmulatorReach(to, toCount * width, "what NCCL receives"));
  // NCCL works in place where a rank's part lies in its place, and nowhere else.
  const bool overlap = fromCount && toCount && source < target + toCount * width &&
                       target < source + fromCount * width;
  const size_t mine = static_cast<size_t>(state.rank) * width;
  const bool inPlace = what.kind == CollectiveKind::allGather ? source == target + mine * fromCount
                       : what.kind == CollectiveKind::reduceScatter
                           ? target == source + mine * toCount
                           : source == target;
  if (overlap && !inPlace)
    fail("%s: the buffers that are sent and received overlap", nameOf(what.kind));
  dpcEmulatorCount("nccl");
  group().entries.push_back({{what, source, target, &state}, stream});
  return group().depth ? NcclResult::success : flush();
}

/// Joins, in a thread of its own if the communicator is not blocking.
static NcclResult start(Communicator *state, const NcclConfig *config, NcclComm *comm) {
  const int device = dpcEmulatorDevice();
  if (device < 0)
    return NcclResult::unhandledCudaError;
  *comm = reinterpret_cast<NcclComm>(state);
  state->blocking = !config || config->blocking != 0;
  state->error = NcclResult::inProgress;
  if (!state->blocking) {
    state->starter = std::thread([state, device] { state->join(device); });
    return NcclResult::inProgress;
  }
  state->join(device);
  return state->error;
}

static NcclResult split(Communicator &state, int color, int key, const NcclConfig *config,
                        NcclComm *part) {
  *part = nullptr;
  if (state.starter.joinable())
    state.starter.join();
  state.shared->color[state.rank] = color;
  state.shared->key[state.rank] = key;
  if (!state.meet())
    return NcclResult::remoteError;
  int rank = 0, ranks = 0;
  for (int other = 0; other < state.ranks; ++other) {
    if (state.shared->color[other] != color)
      continue;
    ++ranks;
    rank += std::make_pair(state.shared->key[other], other) < std::make_pair(key, state.rank);
  }
  if (!state.meet())
    return NcclResult::remoteError;
  ++state.splits;
  const std::string name =
      state.name + "-" + std::to_string(state.splits) + "-" + std::to_string(color);
  auto *made = color == kNcclNoColor ? nullptr : new Communicator(name, rank, ranks);
  if (config->blocking != 0)
    return made ? start(made, config, part) : NcclResult::success;
  const int device = dpcEmulatorDevice();
  if (device < 0)
    return NcclResult::unhandledCudaError;
  // As NCCL does it: the call succeeds, the parent is in progress, and the part is
  // there when a thread has made it.
  state.error = NcclResult::inProgress;
  state.starter = std::thread([&state, made, device, part] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (made) {
      made->blocking = false;
      made->error = NcclResult::inProgress;
      made->join(device);
    }
    *part = reinterpret_cast<NcclComm>(made);
    state.error = NcclResult::success;
  });
  return NcclResult::success;
}

namespace dpc::cuda {
extern "C" {

NcclResult ncclGetVersion(int *version) {
  *version = 22803;
  return NcclResult::success;
}

NcclResult ncclGetUniqueId(NcclId *id) {
  std::random_device random;
  std::memset(id, 0, sizeof *id);
  std::snprintf(id->bytes, sizeof id->bytes, "/dpc-emulated-nccl-%d-%08x%08x", getpid(), random(),
                random());
  return NcclResult::success;
}

NcclResult ncclCommInitRankConfig(NcclComm *comm, int ranks, NcclId id, int rank,
                                  NcclConfig *config) {
  if (ranks < 1 || ranks > kMaxRanks || rank < 0 || rank >= ranks)
    return NcclResult::invalidArgument;
  if (config && (config->magic != kNcclMagic || config->size < sizeof(NcclConfig)))
    return NcclResult::invalidArgument;
  return start(new Communicator(id.bytes, rank, ranks), config, comm);
}

NcclResult ncclCommSplit(NcclComm comm, int color, int key, NcclComm *part, NcclConfig *config) {
  if (!comm || (color < 0 && color != kNcclNoColor))
    return NcclResult::invalidArgument;
  if (const NcclResult now = stateOf(comm)->error; now != NcclResult::success)
    return now == NcclResult::inProgress ? NcclResult::invalidArgument : now;
  // Whether it blocks is the parent's unless the caller says otherwise.
  NcclConfig own;
  if (config)
    own = *config;
  if (own.blocking == kNcclUndefined)
    own.blocking = stateOf(comm)->blocking;
  return split(*stateOf(comm), color, key, &own, part);
}

NcclResult ncclCommFinalize(NcclComm comm) {
  return cuCtxSynchronize() == Result::success ? stateOf(comm)->error.load()
                                               : NcclResult::unhandledCudaError;
}

NcclResult ncclCommDestroy(NcclComm comm) {
  if (cuCtxSynchronize() != Result::success)
    return NcclResult::unhandledCudaError;
  delete stateOf(comm);
  return NcclResult::success;
}

NcclResult ncclCommAbort(NcclComm comm) {
  // It waits until they are gone.
  if (stateOf(comm)->wasCaptured && dpcEmulatorExecutableGraphs())
    fail("ncclCommAbort waits for ever: there are graphs with operations of the communicator");
  stateOf(comm)->aborted = true;
  group().aborted.push_back(stateOf(comm));
  return group().depth ? NcclResult::success : flush();
}

NcclResult ncclCommGetAsyncError(NcclComm comm, NcclResult *error) {
  *error = stateOf(comm)->error;
  return NcclResult::success;
}

NcclResult ncclCommCount(NcclComm comm, int *ranks) {
  *ranks = stateOf(comm)->ranks;
  return NcclResult::success;
}

NcclResult ncclCommUserRank(NcclComm comm, int *rank) {
  *rank = stateOf(comm)->rank;
  return NcclResult::success;
}

NcclResult ncclCommRegister(NcclComm comm, void *buffer, size_t bytes, void **handle) {
  if (!comm || !buffer || !bytes)
    return NcclResult::invalidArgument;
  (void)dpcEmulatorReach(buffer, bytes, "what is registered with NCCL");
  *handle = buffer;
  return NcclResult::success;
}

NcclResult ncclCommDeregister(NcclComm comm, void *handle) {
  return comm && handle ? NcclResult::success : NcclResult::invalidArgument;
}

const char *ncclGetErrorString(NcclResult result) {
  switch (result) {
  case NcclResult::success:
    return "no error";
  case NcclResult::unhandledCudaError:
    return "unhandled cuda error";
  case NcclResult::systemError:
    return "unhandled system error";
  case NcclResult::invalidArgument:
    return "invalid argument";
  case NcclResult::invalidUsage:
    return "invalid usage";
  case NcclResult::remoteError:
    return "remote process exited or there was a network error";
  case NcclResult::inProgress:
    return "NCCL operation in progress";
  default:
    return "internal error";
  }
}

const char *ncclGetLastError(NcclComm) { return ""; }

NcclResult ncclGroupStart() {
  ++group().depth;
  return NcclResult::success;
}

NcclResult ncclGroupEnd() {
  if (group().depth == 0)
    return NcclResult::invalidUsage;
  return --group().depth ? NcclResult::success : flush();
}

NcclResult ncclAllReduce(const void *from, void *to, size_t count, NcclType type,
                         NcclReduction reduction, NcclComm comm, Stream stream) {
  return submit({CollectiveKind::allReduce, type, reduction, 0, count}, from, count, to, count,
                comm, stream);
}

NcclResult ncclReduceScatter(const void *from, void *to, size_t perRank, NcclType type,
                             NcclReduction reduction, NcclComm comm, Stream stream) {
  const size_t ranks = comm ? static_cast<size_t>(stateOf(comm)->ranks) : 0;
  return submit({CollectiveKind::reduceScatter, type, reduction, 0, perRank}, from, perRank * ranks,
                to, perRank, comm, stream);
}

NcclResult ncclAllGather(const void *from, void *to, size_t perRank, NcclType type, NcclComm comm,
                         Stream stream) {
  const size_t ranks = comm ? static_cast<size_t>(stateOf(comm)->ranks) : 0;
  return submit({CollectiveKind::allGather, type, NcclReduction::sum, 0, perRank}, from, perRank,
                to, perRank * ranks, comm, stream);
}

NcclResult ncclBroadcast(const void *from, void *to, size_t count, NcclType type, int root,
                         NcclComm comm, Stream stream) {
  const bool sends = comm && stateOf(comm)->rank == root;
  return submit({CollectiveKind::broadcast, type, NcclReduction::sum, root, count}, from,
                sends ? count : 0, to, count, comm, stream);
}

NcclResult ncclReduce(const void *from, void *to, size_t count, NcclType type,
                      NcclReduction reduction, int root, NcclComm comm, Stream stream) {
  const bool receives = comm && stateOf(comm)->rank == root;
  return submit({CollectiveKind::reduce, type, reduction, root, count}, from, count, to,
                receives ? count : 0, comm, stream);
}

NcclResult ncclSend(const void *from, size_t count, NcclType type, int peer, NcclComm comm,
                    Stream stream) {
  return submit({CollectiveKind::send, type, NcclReduction::sum, peer, count}, from, count, nullptr,
                0, comm, stream);
}

NcclResult ncclRecv(void *to, size_t count, NcclType type, int peer, NcclComm comm, Stream stream) {
  return submit({CollectiveKind::receive, type, NcclReduction::sum, peer, count}, nullptr, 0, to,
                count, comm, stream);
}
}
} // namespace dpc::cuda

// The `local` transport: ranks are processes of one host, and collectives run
// in place on memory that all ranks map.
#include "runtime/src/comm/local/LocalComm.h"

#include "dpc/action.h"
#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/Groups.h"
#include "runtime/src/comm/Hosts.h"
#include "runtime/src/comm/Operation.h"
#include "runtime/src/comm/Timeouts.h"
#include "runtime/src/comm/Waits.h"
#include "runtime/src/comm/local/Channel.h"
#include "runtime/src/comm/local/Watchdog.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <immintrin.h>
#include <linux/futex.h>
#include <memory>
#include <new>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dpc::local {

namespace {

/// How often a rank polls before it goes to sleep. A rank with a core of its own
/// does not call sched_yield, because an unrelated process could then keep the core
/// for milliseconds. Such a rank may sleep, because it runs again as soon as its
/// doorbell rings. If ranks share cores (oversubscribed), a rank yields and sleeps
/// early, because the rank that it waits for may need the core.
constexpr int kSpins = 4000;
constexpr int kSpinsOversubscribed = 64;
constexpr int64_t kLongestSleepNs = 50'000'000;
constexpr unsigned kSequenceBits = 44;

int64_t nowNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

struct LocalComm {
  dpc_comm_t interface{};
  Hosts hosts;
  Segment segment;
  std::vector<Group> groups;
  std::vector<int32_t> groupChannel; ///< per family; -1: no group of the family has this rank
  std::vector<Channel> channels;
  std::vector<int32_t> pairChannel; ///< [2 * world]: to each rank, then from each rank; -1: not
                                    ///< used yet
  std::unique_ptr<Watchdog> watchdog;
  Link link;
  double timeoutSeconds = 300;
  bool oversubscribed = false;
};

LocalComm &self(dpc_comm_t *comm) { return *reinterpret_cast<LocalComm *>(comm); }

dpc_status_t progressAll(LocalComm &comm, bool *outAdvanced) {
  for (Channel &channel : comm.channels)
    if (!channel.idle())
      if (dpc_status_t status = channel.progress(comm.link, outAdvanced))
        return status;
  return DPC_OK;
}

/// Sleeps until the doorbell rings, but not after the time `untilNs` (0: no limit)
/// and not longer than a twentieth of a second.
void sleepOnDoorbell(LocalComm &comm, int64_t untilNs) {
  RankPage &page = comm.segment.page(comm.interface.rank);
  uint32_t bell = page.doorbell.load(std::memory_order_seq_cst);
  page.sleeping.store(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  // A peer that did not see `sleeping` yet has not rung the doorbell. So look once
  // more for new work before sleeping.
  bool advanced = false;
  dpc_status_t status = progressAll(comm, &advanced);
  int64_t span = kLongestSleepNs;
  if (untilNs)
    span = std::min(span, untilNs - nowNs());
  if (!advanced && status == DPC_OK && span > 0 && comm.segment.checkFailure() == DPC_OK) {
    timespec limit = {0, static_cast<long>(span)};
    ::syscall(SYS_futex, &page.doorbell, FUTEX_WAIT, bell, &limit, nullptr, 0);
  }
  page.sleeping.store(0, std::memory_order_relaxed);
}

/// Tells the other ranks which rank this rank waits for, until the wait ends.
class PublishedWait {
public:
  explicit PublishedWait(RankPage &page) : page(page) {}
  ~PublishedWait() { publish(DPC_NONE); }
  void publish(uint32_t late) {
    if (late == published)
      return;
    published = late;
    page.waitsFor.store(late, std::memory_order_relaxed);
  }

private:
  RankPage &page;
  uint32_t published = DPC_NONE;
};

dpc_status_t stopBecause(LocalComm &comm, const Wait &wait, const std::string &what,
                         const dpc_comm_op_t *op) {
  comm.segment.publishFailure(wait.late, waitText(wait, what, op).c_str());
  return comm.segment.checkFailure();
}

/// Ends the run, because rank `late` (DPC_NONE: the link) has kept this rank waiting
/// in `op` until the timeout.
dpc_status_t timeOut(LocalComm &comm, uint32_t late, const dpc_comm_op_t &op) {
  const uint32_t me = comm.interface.rank;
  const Wait first = {me, late == DPC_NONE ? me : late};
  auto waitOf = [&](uint32_t r) {
    const bool isStill = r != me && comm.watchdog->isStill(r);
    return isStill ? DPC_NONE : comm.segment.page(r).waitsFor.load(std::memory_order_relaxed);
  };
  const Wait last = findLastWait(first, comm.interface.world_size, waitOf);
  return stopBecause(comm, last, silence(comm.timeoutSeconds), last.rank == me ? &op : nullptr);
}

/// Waits until `ready()` returns true. Meanwhile works on all other operations that
/// can advance, because a peer may need this rank's share of another operation
/// first. Only then can that peer start the operation for which this rank waits.
template <typename Ready>
dpc_status_t waitUntil(LocalComm &comm, const Channel *channel, Ready ready) {
  const int spins = comm.oversubscribed ? kSpinsOversubscribed : kSpins;
  const FailureRecord &failure = comm.segment.control().failure;
  PublishedWait published(comm.segment.page(comm.interface.rank));
  double begin = 0;
  for (int round = 0;; ++round) {
    bool advanced = false;
    if (dpc_status_t status = progressAll(comm, &advanced))
      return status;
    if (ready())
      return DPC_OK;
    if (failure.state.load(std::memory_order_acquire) == 2)
      return comm.segment.checkFailure();
    if (advanced) {
      round = 0;
      continue;
    }
    if (round < spins && !(channel->deadlineNs() && comm.link.emulated())) {
      if (round % 16 == 15 && comm.oversubscribed)
        ::sched_yield();
      else
        _mm_pause();
      continue;
    }
    const double now = monotonicSeconds();
    const uint32_t late = channel->laggard();
    if (begin == 0)
      begin = now;
    if (late != DPC_NONE && late != comm.interface.rank &&
        comm.segment.page(late).left.load(std::memory_order_acquire)) {
      progressAll(comm,
                  &advanced); // the peer may have finished its share just before it left
      if (!ready() && channel->laggard() == late)
        return stopBecause(comm, {comm.interface.rank, late}, "has left the run", &channel->head());
      continue;
    }
    if (now - begin > toldAfter(comm.timeoutSeconds))
      published.publish(late);
    if (now - begin > comm.timeoutSeconds)
      return timeOut(comm, late, channel->head());
    sleepOnDoorbell(comm, channel->deadlineNs());
  }
}

int32_t channelOf(LocalComm &comm, const dpc_comm_op_t &op) {
  const Group &group = comm.groups[op.family];
  Segment &segment = comm.segment;
  if (op.op != DPC_OP_SEND && op.op != DPC_OP_RECV)
    return comm.groupChannel[op.family];
  const bool sends = op.op == DPC_OP_SEND;
  const uint32_t peer = group.members[op.peer], me = comm.interface.rank;
  int32_t &channel = comm.pairChannel[(sends ? 0 : comm.interface.world_size) + peer];
  if (channel < 0) {
    const uint32_t from = sends ? me : peer, to = sends ? peer : me;
    channel = static_cast<int32_t>(comm.channels.size());
    comm.channels.emplace_back(
        segment, std::vector<uint32_t>{from, to},
        std::vector<Lane *>{&segment.pair(from, to, 0), &segment.pair(from, to, 1)}, sends ? 0 : 1,
        true);
  }
  return channel;
}

dpc_status_t localAllocate(dpc_comm_t *base, uint64_t bytes, void **outMemory) {
  return self(base).segment.memory.allocate(bytes, outMemory);
}

dpc_status_t localStart(dpc_comm_t *base, const dpc_comm_op_t *op, dpc_request_t *outRequest) {
  LocalComm &comm = self(base);
  if (dpc_status_t status = checkOperation(*op, comm.groups, comm.segment.memory))
    return status;
  if (dpc_status_t status = comm.segment.checkFailure())
    return status;
  const int32_t index = channelOf(comm, *op);
  // In a full ring, the new operation would overwrite an entry that some member
  // still needs. So wait until the ring has room.
  if (!comm.channels[index].hasRoom())
    if (dpc_status_t status =
            waitUntil(comm, &comm.channels[index], [&] { return comm.channels[index].hasRoom(); }))
      return status;
  const uint64_t sequence = comm.channels[index].post(*op, comm.link.emulated() ? nowNs() : 0);
  *outRequest = (uint64_t(index) + 1) << kSequenceBits | sequence;
  base->stats.operations += 1;
  base->stats.bytes += op->count * dpc_dtype_size(op->dtype);
  bool advanced = false;
  return progressAll(comm, &advanced);
}

dpc_status_t localWait(dpc_comm_t *base, dpc_request_t request) {
  LocalComm &comm = self(base);
  const uint64_t index = (request >> kSequenceBits) - 1,
                 sequence = request & ((1ull << kSequenceBits) - 1);
  if (index >= comm.channels.size())
    return fail(DPC_INVALID, "wait for a communication that was never started");
  const int64_t begin = nowNs();
  dpc_status_t status = waitUntil(comm, &comm.channels[index],
                                  [&] { return comm.channels[index].complete(sequence); });
  base->stats.exposed_ns += static_cast<uint64_t>(nowNs() - begin);
  return status;
}

dpc_status_t localCheck(dpc_comm_t *base) {
  LocalComm &comm = self(base);
  bool advanced = false;
  if (dpc_status_t status = progressAll(comm, &advanced))
    return status;
  return comm.segment.checkFailure();
}

uint32_t localAbort(dpc_comm_t *base, const char *reason) {
  char text[240];
  std::snprintf(text, sizeof text, "rank %u failed: %s", base->rank, reason);
  return self(base).segment.publishFailure(base->rank, text, true);
}

uint32_t localToldElsewhere(dpc_comm_t *base) {
  FailureRecord &failure = self(base).segment.control().failure;
  return failure.state.load(std::memory_order_acquire) == 2 &&
         (failure.selfReported || failure.told.exchange(1) != 0);
}

void localRelease(dpc_comm_t *base) {
  LocalComm *comm = &self(base);
  comm->watchdog.reset();
  comm->segment.page(base->rank).left.store(1, std::memory_order_seq_cst);
  for (uint32_t r = 0; r < base->world_size; ++r)
    comm->segment.ring(r);
  delete comm;
}

constexpr dpc_comm_vtable_t kLocalTable = {sizeof(dpc_comm_vtable_t),
                                           "local",
                                           localAllocate,
                                           localStart,
                                           localWait,
                                           localCheck,
                                           localAbort,
                                           localToldElsewhere,
                                           localRelease};

void addGroupChannels(LocalComm &comm) {
  for (uint32_t f = 0; f < comm.groups.size(); ++f) {
    const Group &group = comm.groups[f];
    std::vector<Lane *> lanes;
    for (uint32_t m = 0; m < group.members.size(); ++m)
      lanes.push_back(&comm.segment.lane(f, group.index, m));
    comm.groupChannel.push_back(lanes.empty() ? -1 : static_cast<int32_t>(comm.channels.size()));
    if (!lanes.empty())
      comm.channels.emplace_back(comm.segment, group.members, lanes, group.self, false);
  }
}

} // namespace

} // namespace dpc::local

using namespace dpc::local;

dpc_status_t dpc::createLocalComm(const dpc_comm_options_t &options, Lobby &lobby,
                                  dpc_comm_t **outComm) {
  constexpr uint32_t kMostRanks = 1024;
  *outComm = nullptr;
  std::unique_ptr<LocalComm> comm(new (std::nothrow) LocalComm);
  if (!comm)
    return fail(DPC_IO, "out of memory");
  if (dpc_status_t status = findGroups(options, "local", kMostRanks, &comm->groups))
    return status;
  if (dpc_status_t status = comm->segment.open(options, lobby))
    return status;
  comm->channels.reserve(options.family_count + 2ull * options.world_size); // no reallocation
  comm->pairChannel.assign(2ull * options.world_size, -1);
  addGroupChannels(*comm);
  comm->link.bandwidth = options.bandwidth;
  comm->link.latency = options.latency;
  comm->timeoutSeconds = timeoutOf(options);
  comm->oversubscribed = options.world_size > comm->segment.usableCores();
  comm->interface.vtable = &kLocalTable;
  comm->interface.rank = options.rank;
  comm->interface.world_size = options.world_size;
  comm->hosts.assign(options.world_size, 0);
  comm->interface.hosts = comm->hosts.data();
  if (options.world_size > 1)
    comm->watchdog = std::make_unique<Watchdog>(comm->segment, frozenAfter(options));
  *outComm = &comm.release()->interface;
  return DPC_OK;
}

// The `local` transport: ranks are processes of one host and collectives run in
// place on memory that all of them map.
#include "dpc/action.h"
#include "dpc/comm.h"
#include "runtime/src/base/OperationNames.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/ReduceKernels.h"
#include "runtime/src/comm/local/Channel.h"
#include "runtime/src/comm/local/Watchdog.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <immintrin.h>
#include <linux/futex.h>
#include <new>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace dpc {

namespace {

/// Looks at what is waited for before sleeping. A rank with a core of its own
/// never yields it: a process of somebody else would keep it for milliseconds,
/// while a rank that sleeps is run as soon as the bell rings. Where ranks share
/// cores, the one that is waited for may be behind this one.
constexpr int kSpins = 4000;
constexpr int kSpinsOversubscribed = 64;
constexpr int64_t kLongestSleepNs = 50'000'000;
constexpr unsigned kSequenceBits = 44;

int64_t nowNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

struct Family {
  std::string name;
  std::vector<uint32_t>
      members; ///< of this rank's group; empty: this rank is in none
  uint32_t self = 0;
  int32_t channel = -1;
};

struct LocalComm {
  dpc_comm_t interface{};
  Segment segment;
  std::vector<Family> families;
  std::vector<Channel> channels;
  std::vector<int32_t>
      pairChannel; ///< [2 * world]: to a rank, from a rank; -1: not used yet
  std::unique_ptr<Watchdog> watchdog;
  Link link;
  double timeoutSeconds = 300;
  bool oversubscribed = false;
};

LocalComm &self(dpc_comm_t *comm) {
  return *reinterpret_cast<LocalComm *>(comm);
}

dpc_status_t progressAll(LocalComm &comm, bool *outAdvanced) {
  for (Channel &channel : comm.channels)
    if (!channel.idle())
      if (dpc_status_t status = channel.progress(comm.link, outAdvanced))
        return status;
  return DPC_OK;
}

/// Sleeps until the doorbell rings, `untilNs` comes or a twentieth of a second
/// is over.
void sleepOnDoorbell(LocalComm &comm, int64_t untilNs) {
  RankPage &page = comm.segment.page(comm.interface.rank);
  uint32_t bell = page.doorbell.load(std::memory_order_seq_cst);
  page.sleeping.store(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  // What arrived before `sleeping` was seen would ring no bell: look once more.
  bool advanced = false;
  dpc_status_t status = progressAll(comm, &advanced);
  int64_t span = kLongestSleepNs;
  if (untilNs)
    span = std::min(span, untilNs - nowNs());
  if (!advanced && status == DPC_OK && span > 0 &&
      comm.segment.checkFailure() == DPC_OK) {
    timespec limit = {0, static_cast<long>(span)};
    ::syscall(SYS_futex, &page.doorbell, FUTEX_WAIT, bell, &limit, nullptr, 0);
  }
  page.sleeping.store(0, std::memory_order_relaxed);
}

dpc_status_t stopBecause(LocalComm &comm, uint32_t guilty,
                         const Channel &channel, const char *what) {
  const dpc_comm_op_t &op = channel.head();
  char text[240];
  std::snprintf(text, sizeof text,
                "rank %u %s, and rank %u waits for it in %s of buffer %llu",
                guilty, what, comm.interface.rank, opName(op.op),
                static_cast<unsigned long long>(op.buffer_id));
  comm.segment.publishFailure(guilty, text);
  return comm.segment.checkFailure();
}

/// Waits until `ready()`, working on whatever other operation can go on
/// meanwhile: a peer may need this rank's share of one before it can start the
/// one waited for here.
template <typename Ready>
dpc_status_t waitUntil(LocalComm &comm, const Channel *channel, Ready ready) {
  const int spins = comm.oversubscribed ? kSpinsOversubscribed : kSpins;
  const FailureRecord &failure = comm.segment.control().failure;
  double deadline = 0;
  for (int turn = 0;; ++turn) {
    bool advanced = false;
    if (dpc_status_t status = progressAll(comm, &advanced))
      return status;
    if (ready())
      return DPC_OK;
    if (failure.state.load(std::memory_order_acquire) == 2)
      return comm.segment.checkFailure();
    if (advanced) {
      turn = 0;
      continue;
    }
    if (turn < spins && !(channel->deadlineNs() && comm.link.emulated())) {
      if (turn % 16 == 15 && comm.oversubscribed)
        ::sched_yield();
      else
        _mm_pause();
      continue;
    }
    const double now = monotonicSeconds();
    const uint32_t late = channel->laggard();
    if (deadline == 0)
      deadline = now + comm.timeoutSeconds;
    if (late != DPC_NONE && late != comm.interface.rank &&
        comm.segment.page(late).left.load(std::memory_order_acquire)) {
      progressAll(
          comm,
          &advanced); // it may have finished its share just before it left
      if (!ready() && channel->laggard() == late)
        return stopBecause(comm, late, *channel, "has left the run");
      continue;
    }
    if (now > deadline) {
      char what[80];
      std::snprintf(what, sizeof what, "has not answered for %.0f s",
                    comm.timeoutSeconds);
      return stopBecause(comm, late == DPC_NONE ? comm.interface.rank : late,
                         *channel, what);
    }
    sleepOnDoorbell(comm, channel->deadlineNs());
  }
}

dpc_status_t checkBuffer(LocalComm &comm, const dpc_comm_op_t &op,
                         const char *which, const void *pointer,
                         uint64_t elements) {
  const uint64_t size = dpc_dtype_size(op.dtype);
  if (elements > UINT64_MAX / 16 ||
      comm.segment.offsetOf(pointer, elements * size) == UINT64_MAX)
    return fail(
        DPC_INVALID,
        "%s of buffer %llu: %s of %llu x %s is not inside the shared memory",
        opName(op.op), static_cast<unsigned long long>(op.buffer_id), which,
        static_cast<unsigned long long>(elements), dpc_dtype_name(op.dtype));
  return DPC_OK;
}

dpc_status_t validate(LocalComm &comm, const dpc_comm_op_t &op) {
  if (op.op == 0 || op.op >= DPC_OP_COUNT)
    return fail(DPC_INVALID, "unknown communication %u", op.op);
  if (op.family >= comm.families.size())
    return fail(DPC_INVALID, "%s: group family %u of %zu", opName(op.op),
                op.family, comm.families.size());
  const Family &family = comm.families[op.family];
  if (family.members.empty())
    return fail(DPC_INVALID, "%s: rank %u is in no group of family %s",
                opName(op.op), comm.interface.rank, family.name.c_str());
  if (op.op == DPC_OP_BARRIER)
    return DPC_OK;
  if (dpc_dtype_size(op.dtype) == 0)
    return fail(DPC_INVALID, "%s: unknown element type %u", opName(op.op),
                op.dtype);
  const uint64_t n = family.members.size();
  const bool pair = op.op == DPC_OP_SEND || op.op == DPC_OP_RECV;
  const bool rooted = op.op == DPC_OP_BROADCAST || op.op == DPC_OP_REDUCE ||
                      op.op == DPC_OP_GATHER || op.op == DPC_OP_SCATTER;
  if ((pair || rooted) && op.peer >= n)
    return fail(DPC_INVALID, "%s: peer %u in a group of %llu", opName(op.op),
                op.peer, static_cast<unsigned long long>(n));
  if (pair && op.peer == family.self)
    return fail(DPC_INVALID, "%s: a rank cannot be its own peer",
                opName(op.op));
  const bool reduces = op.op == DPC_OP_ALL_REDUCE || op.op == DPC_OP_REDUCE ||
                       op.op == DPC_OP_REDUCE_SCATTER;
  if (reduces && !reduceKernel(op.dtype, op.reduction))
    return fail(DPC_INVALID, "%s: reduction %u of %s is not supported",
                opName(op.op), op.reduction, dpc_dtype_name(op.dtype));
  const bool root = family.self == op.peer;
  uint64_t in = op.count, out = op.count;
  bool hasIn = true, hasOut = true;
  switch (op.op) {
  case DPC_OP_REDUCE_SCATTER:
    in *= n;
    break;
  case DPC_OP_ALL_GATHER:
    out *= n;
    break;
  case DPC_OP_ALL_TO_ALL:
    in *= n, out *= n;
    break;
  case DPC_OP_GATHER:
    out *= n, hasOut = root;
    break;
  case DPC_OP_REDUCE:
    hasOut = root;
    break;
  case DPC_OP_SCATTER:
    in *= n, hasIn = root;
    break;
  case DPC_OP_BROADCAST:
    hasIn = root;
    break;
  case DPC_OP_SEND:
    hasOut = false;
    break;
  case DPC_OP_RECV:
    hasIn = false;
    break;
  default:
    break;
  }
  if (hasIn)
    if (dpc_status_t status = checkBuffer(comm, op, "input", op.in, in))
      return status;
  return hasOut ? checkBuffer(comm, op, "output", op.out, out) : DPC_OK;
}

int32_t channelOf(LocalComm &comm, const dpc_comm_op_t &op) {
  Family &family = comm.families[op.family];
  Segment &segment = comm.segment;
  if (op.op != DPC_OP_SEND && op.op != DPC_OP_RECV)
    return family.channel;
  const bool sends = op.op == DPC_OP_SEND;
  const uint32_t peer = family.members[op.peer], me = comm.interface.rank;
  int32_t &channel =
      comm.pairChannel[(sends ? 0 : comm.interface.world_size) + peer];
  if (channel < 0) {
    const uint32_t from = sends ? me : peer, to = sends ? peer : me;
    channel = static_cast<int32_t>(comm.channels.size());
    comm.channels.emplace_back(segment, std::vector<uint32_t>{from, to},
                               std::vector<Lane *>{&segment.pair(from, to, 0),
                                                   &segment.pair(from, to, 1)},
                               sends ? 0 : 1, true);
  }
  return channel;
}

dpc_status_t localStart(dpc_comm_t *base, const dpc_comm_op_t *op,
                        dpc_request_t *outRequest) {
  LocalComm &comm = self(base);
  if (dpc_status_t status = validate(comm, *op))
    return status;
  if (dpc_status_t status = comm.segment.checkFailure())
    return status;
  const int32_t index = channelOf(comm, *op);
  // The family's peer is an index in its group; pair channels know only
  // "sender" and "receiver".
  if (!comm.channels[index].hasRoom())
    if (dpc_status_t status = waitUntil(comm, &comm.channels[index], [&] {
          return comm.channels[index].hasRoom();
        }))
      return status;
  const uint64_t sequence =
      comm.channels[index].post(*op, comm.link.emulated() ? nowNs() : 0);
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
  dpc_status_t status = waitUntil(comm, &comm.channels[index], [&] {
    return comm.channels[index].complete(sequence);
  });
  base->stats.exposed_ns += static_cast<uint64_t>(nowNs() - begin);
  return status;
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
                                           1,
                                           "local",
                                           localStart,
                                           localWait,
                                           localAbort,
                                           localToldElsewhere,
                                           localRelease};

dpc_status_t addFamilies(LocalComm &comm, const dpc_comm_options_t &options) {
  for (uint32_t f = 0; f < options.family_count; ++f) {
    const dpc_group_family_t &source = options.families[f];
    Family family;
    family.name = source.name ? source.name : std::to_string(f);
    for (uint64_t i = 0; i < uint64_t(source.group_count) * source.group_size;
         ++i) {
      if (source.ranks[i] >= options.world_size)
        return fail(DPC_INVALID, "group family %s: rank %u in a world of %u",
                    family.name.c_str(), source.ranks[i], options.world_size);
      if (source.ranks[i] != options.rank)
        continue;
      const uint32_t group = static_cast<uint32_t>(i / source.group_size);
      const uint32_t *first =
          source.ranks + uint64_t(group) * source.group_size;
      family.members.assign(first, first + source.group_size);
      family.self = static_cast<uint32_t>(i % source.group_size);
      std::vector<Lane *> lanes;
      for (uint32_t m = 0; m < source.group_size; ++m)
        lanes.push_back(&comm.segment.lane(f, group, m));
      family.channel = static_cast<int32_t>(comm.channels.size());
      comm.channels.emplace_back(comm.segment, family.members, lanes,
                                 family.self, false);
      break;
    }
    comm.families.push_back(std::move(family));
  }
  return DPC_OK;
}

} // namespace
} // namespace dpc

extern "C" dpc_status_t dpc_comm_create_local(const dpc_comm_options_t *options,
                                              dpc_comm_t **outComm) {
  using namespace dpc;
  constexpr uint32_t kMaxLocalRanks = 1024;
  *outComm = nullptr;
  if (options->world_size == 0 || options->world_size > kMaxLocalRanks ||
      options->rank >= options->world_size)
    return fail(
        DPC_INVALID,
        "rank %u of world size %u: the local transport joins 1 to %u ranks",
        options->rank, options->world_size, kMaxLocalRanks);
  if (options->family_count == 0)
    return fail(DPC_INVALID, "group family 0, the whole world, is missing");
  std::unique_ptr<LocalComm> comm(new (std::nothrow) LocalComm);
  if (!comm)
    return fail(DPC_IO, "out of memory");
  if (dpc_status_t status = comm->segment.open(*options))
    return status;
  comm->channels.reserve(options->family_count +
                         2ull * options->world_size); // channels never move
  comm->pairChannel.assign(2ull * options->world_size, -1);
  if (dpc_status_t status = addFamilies(*comm, *options))
    return status;
  comm->link.bandwidth = options->bandwidth;
  comm->link.latency = options->latency;
  if (options->timeout_seconds > 0)
    comm->timeoutSeconds = options->timeout_seconds;
  comm->oversubscribed = options->world_size > comm->segment.usableCores();
  comm->interface.vtable = &kLocalTable;
  comm->interface.rank = options->rank;
  comm->interface.world_size = options->world_size;
  comm->interface.shared = comm->segment.shared.data();
  comm->interface.common = comm->segment.common;
  if (options->world_size > 1)
    comm->watchdog = std::make_unique<Watchdog>(
        comm->segment,
        options->frozen_seconds > 0 ? options->frozen_seconds : 10);
  *outComm = &comm.release()->interface;
  return DPC_OK;
}

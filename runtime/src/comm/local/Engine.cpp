// Advances the operations of all channels of a rank while the rank waits for one of them.
#include "runtime/src/comm/local/Engine.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/Requests.h"
#include "runtime/src/comm/Timeouts.h"
#include "runtime/src/comm/Waits.h"

#include <algorithm>
#include <ctime>
#include <immintrin.h>
#include <linux/futex.h>
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

int64_t nowNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

/// Tells the other ranks which rank this rank waits for, until the wait ends.
class PublishedWait {
public:
  explicit PublishedWait(Peers &peers) : peers(peers) {}
  ~PublishedWait() { publish(DPC_NONE); }
  void publish(uint32_t late) {
    if (late == published)
      return;
    published = late;
    peers.tellWait(late);
  }

private:
  Peers &peers;
  uint32_t published = DPC_NONE;
};

} // namespace

Engine::Engine(const dpc_comm_options_t &options, const std::vector<Group> &groups,
               Segment &segment, Peers &peers)
    : segment(segment), peers(peers), groups(groups), pairChannel(2ull * options.world_size, -1),
      rank(options.rank), worldSize(options.world_size), timeoutSeconds(timeoutOf(options)),
      oversubscribed(segment.ranks.size() > segment.usableCores()) {
  link.bandwidth = options.bandwidth;
  link.latency = options.latency;
  channels.reserve(groups.size() + 2ull * worldSize); // no reallocation
  for (uint32_t f = 0; f < groups.size(); ++f) {
    const Group &group = groups[f];
    const bool shared =
        !group.members.empty() && std::all_of(group.members.begin(), group.members.end(),
                                              [&](uint32_t r) { return segment.holds(r); });
    groupChannel.push_back(shared ? static_cast<int32_t>(channels.size()) : -1);
    if (!shared)
      continue;
    std::vector<Lane *> lanes;
    for (uint32_t m = 0; m < group.members.size(); ++m)
      lanes.push_back(&segment.lane(f, group.index, m));
    channels.emplace_back(segment, group.members, lanes, group.self, false);
  }
}

bool Engine::runs(const dpc_comm_op_t &op) const {
  if (op.op == DPC_OP_SEND || op.op == DPC_OP_RECV)
    return segment.holds(groups[op.family].members[op.peer]);
  return groupChannel[op.family] >= 0;
}

bool Engine::isIdle() const {
  return std::all_of(channels.begin(), channels.end(),
                     [](const Channel &channel) { return channel.idle(); });
}

dpc_status_t Engine::progress(bool *outAdvanced) {
  for (Channel &channel : channels)
    if (!channel.idle())
      if (dpc_status_t status = channel.progress(link, peers, outAdvanced))
        return status;
  return DPC_OK;
}

void Engine::sleep(int64_t untilNs, const std::function<bool()> &isReady) {
  RankPage &page = segment.page(rank);
  uint32_t bell = page.doorbell.load(std::memory_order_seq_cst);
  page.sleeping.store(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  // A peer that did not see `sleeping` yet has not rung the doorbell. So look once
  // more for new work before sleeping.
  bool advanced = false;
  dpc_status_t status = progress(&advanced);
  int64_t span = kLongestSleepNs;
  if (untilNs)
    span = std::min(span, untilNs - nowNs());
  if (!advanced && status == DPC_OK && span > 0 && !peers.hasFailed() && !isReady()) {
    timespec limit = {0, static_cast<long>(span)};
    ::syscall(SYS_futex, &page.doorbell, FUTEX_WAIT, bell, &limit, nullptr, 0);
  }
  page.sleeping.store(0, std::memory_order_relaxed);
}

/// Ends the run, because rank `late` (DPC_NONE: the link) has kept this rank waiting
/// in `op` until the timeout.
dpc_status_t Engine::timeOut(uint32_t late, const dpc_comm_op_t &op) {
  const Wait first = {rank, late == DPC_NONE ? rank : late};
  const Wait last = findLastWait(first, worldSize, [this](uint32_t r) { return peers.waitOf(r); });
  return peers.stop(last.late,
                    waitText(last, silence(timeoutSeconds), last.rank == rank ? &op : nullptr));
}

/// Waits until `ready()` returns true. Meanwhile works on all other operations that
/// can advance, because a peer may need this rank's share of another operation
/// first. Only then can that peer start the operation for which this rank waits.
template <typename Ready> dpc_status_t Engine::waitUntil(const Channel &channel, Ready ready) {
  const int spins = oversubscribed ? kSpinsOversubscribed : kSpins;
  PublishedWait published(peers);
  double begin = 0;
  for (int round = 0;; ++round) {
    bool advanced = false;
    if (dpc_status_t status = progress(&advanced))
      return status;
    if (ready())
      return DPC_OK;
    if (peers.hasFailed())
      return peers.check();
    if (advanced) {
      round = 0;
      continue;
    }
    if (round < spins && !(channel.deadlineNs() && link.emulated())) {
      if (round % 16 == 15 && oversubscribed)
        ::sched_yield();
      else
        _mm_pause();
      continue;
    }
    const double now = monotonicSeconds();
    const uint32_t late = channel.laggard();
    if (begin == 0)
      begin = now;
    if (late != DPC_NONE && late != rank && peers.hasLeft(late)) {
      progress(&advanced); // the peer may have finished its share just before it left
      if (!ready() && channel.laggard() == late)
        return peers.stop(late, waitText({rank, late}, "has left the run", &channel.head()));
      continue;
    }
    if (now - begin > toldAfter(timeoutSeconds))
      published.publish(late);
    if (now - begin > timeoutSeconds)
      return timeOut(late, channel.head());
    sleep(channel.deadlineNs(), ready);
  }
}

int32_t Engine::channelOf(const dpc_comm_op_t &op) {
  if (op.op != DPC_OP_SEND && op.op != DPC_OP_RECV)
    return groupChannel[op.family];
  const bool sends = op.op == DPC_OP_SEND;
  const uint32_t peer = groups[op.family].members[op.peer];
  int32_t &channel = pairChannel[(sends ? 0 : worldSize) + peer];
  if (channel < 0) {
    const uint32_t from = sends ? rank : peer, to = sends ? peer : rank;
    channel = static_cast<int32_t>(channels.size());
    channels.emplace_back(
        segment, std::vector<uint32_t>{from, to},
        std::vector<Lane *>{&segment.pair(from, to, 0), &segment.pair(from, to, 1)}, sends ? 0 : 1,
        true);
  }
  return channel;
}

dpc_status_t Engine::start(const dpc_comm_op_t &op, dpc_request_t *outRequest) {
  if (peers.hasFailed())
    return peers.check();
  const int32_t index = channelOf(op);
  Channel &channel = channels[index];
  // In a full ring, the new operation would overwrite an entry that some member
  // still needs. So wait until the ring has room.
  if (!channel.hasRoom())
    if (dpc_status_t status = waitUntil(channel, [&] { return channel.hasRoom(); }))
      return status;
  const uint64_t sequence = channel.post(op, link.emulated() ? nowNs() : 0);
  *outRequest = Request{static_cast<uint64_t>(index), sequence}.number();
  bool advanced = false;
  return progress(&advanced);
}

dpc_status_t Engine::wait(dpc_request_t request) {
  const Request what = Request::of(request);
  if (what.channel >= channels.size())
    return fail(DPC_INVALID, "wait for a communication that was never started");
  const Channel &channel = channels[what.channel];
  return waitUntil(channel, [&] { return channel.complete(what.sequence); });
}

} // namespace dpc::local

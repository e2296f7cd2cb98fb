// Notices dead ranks by their pidfd. Notices a frozen rank if the rank's heartbeat
// does not advance while this thread runs.

#include "runtime/src/comm/local/Watchdog.h"

#include "runtime/src/base/Process.h"
#include "runtime/src/base/Threads.h"
#include "runtime/src/comm/Timeouts.h"

#include <algorithm>
#include <cstdio>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dpc::local {

namespace {

constexpr int kTickMs = 100;

/// Counts this thread's ticks instead of wall time. While this process is stopped,
/// it cannot see its peers advance, so that time must not count against the peers.
int ticksIn(double seconds) { return std::max(1, static_cast<int>(seconds * 1000 / kTickMs)); }

} // namespace

Watchdog::Watchdog(Segment &segment, double frozenSeconds)
    : segment(segment), frozenSeconds(frozenSeconds), idleTicks(segment.worldSize),
      wake(::eventfd(0, EFD_CLOEXEC)) {
  for (uint32_t r = 0; r < segment.worldSize; ++r) {
    int pid = segment.page(r).pid;
    if (r == segment.rank)
      continue;
    peers.push_back({r, pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))});
  }
  polled.resize(peers.size() + 1);
  thread = withoutSignals([this] { return std::thread([this] { run(); }); });
}

Watchdog::~Watchdog() {
  uint64_t one = 1;
  ssize_t written = ::write(wake.get(), &one, sizeof one);
  (void)written; // cannot fail: the eventfd has room for 1
  thread.join();
}

bool Watchdog::isStill(uint32_t rank) const {
  return idleTicks[rank] >= ticksIn(stillAfter(frozenSeconds));
}

void Watchdog::run() {
  const int frozenTicks = ticksIn(frozenSeconds);
  char text[200];
  for (;;) {
    polled[0] = {wake.get(), POLLIN, 0};
    for (size_t i = 0; i < peers.size(); ++i)
      polled[i + 1] = {peers[i].finished ? -1 : peers[i].fd.get(), POLLIN, 0};
    int ready = ::poll(polled.data(), polled.size(), kTickMs);
    if (polled[0].revents)
      return;
    segment.page(segment.rank).heartbeat.fetch_add(1, std::memory_order_relaxed);
    for (size_t i = 0; i < peers.size(); ++i) {
      Peer &peer = peers[i];
      RankPage &page = segment.page(peer.rank);
      if (peer.finished)
        continue;
      bool ended = peer.fd.valid() ? ready > 0 && polled[i + 1].revents != 0 : hasEnded(peer.pid);
      if (page.left.load(std::memory_order_acquire)) {
        peer.finished = true;
        segment.ring(segment.rank); // this rank may be waiting for the rank that left
        continue;
      }
      if (ended) {
        peer.finished = true;
        std::snprintf(text, sizeof text,
                      "rank %u died: its process %d ended without leaving the run", peer.rank,
                      peer.pid);
        segment.publishFailure(peer.rank, text);
        continue;
      }
      uint64_t heartbeat = page.heartbeat.load(std::memory_order_relaxed);
      if (ready != 0)
        continue; // poll returned early, perhaps before the peer's next heartbeat
      std::atomic<int> &idle = idleTicks[peer.rank];
      idle = heartbeat == peer.heartbeat ? idle + 1 : 0;
      peer.heartbeat = heartbeat;
      if (idle == frozenTicks) {
        std::snprintf(text, sizeof text,
                      "rank %u is frozen: its process %d has not run for %.1f "
                      "s (stopped, or out of memory?)",
                      peer.rank, peer.pid, frozenSeconds);
        segment.publishFailure(peer.rank, text);
      }
    }
  }
}

} // namespace dpc::local

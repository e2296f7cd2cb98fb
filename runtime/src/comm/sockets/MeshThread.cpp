// The thread that serves a rank's sockets. It notices ranks that died or are
// frozen, and agrees with the other ranks on the failure with which the run ends.

#include "runtime/src/base/Clock.h"
#include "runtime/src/comm/sockets/Mesh.h"

#include "runtime/src/base/Status.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace dpc::sockets {

namespace {

constexpr double kTickSeconds = 0.1;
/// How long a rank waits for the answer of rank 0 to a report. A rank 0 that runs
/// answers at once.
constexpr double kAnswerSeconds = 1;
constexpr double kLeaveSeconds = 2;

Frame frameOf(FrameKind kind, const RunFailure &failure) {
  Frame frame = frameOf(kind);
  frame.guilty = failure.guilty;
  frame.selfReported = failure.selfReported;
  return frame;
}

} // namespace

void Mesh::run() {
  std::vector<pollfd> polled(worldSize + 1);
  std::unique_lock<std::mutex> lock(mutex);
  double before = monotonicSeconds();
  while (!hasEnded) {
    polled[worldSize] = {wake.get(), POLLIN, 0};
    for (uint32_t r = 0; r < worldSize; ++r)
      polled[r] = {connections[r].descriptor(),
                   static_cast<short>(POLLIN | (connections[r].hasOutput() ? POLLOUT : 0)), 0};
    lock.unlock();
    ::poll(polled.data(), polled.size(), static_cast<int>(kTickSeconds * 1000));
    lock.lock();
    uint64_t count = 0;
    const ssize_t read = ::read(wake.get(), &count, sizeof count);
    (void)read; // fails if poll returned for another reason than `wake`
    for (uint32_t r = 0; r < worldSize; ++r)
      if ((polled[r].revents & ~POLLOUT) && connections[r].isOpen())
        receiveFrom(connections[r]);
    const double now = monotonicSeconds();
    tick(std::min(now - before, kTickSeconds));
    before = now;
    for (Connection &connection : connections)
      connection.flush();
    tellChange();
  }
}

void Mesh::receiveFrom(Connection &connection) {
  connection.heardAt = runSeconds;
  const Connection::State state = connection.receive(*this);
  if (state == Connection::State::open)
    return;
  const std::string who = "rank " + std::to_string(connection.rank());
  if (state == Connection::State::senseless && !verdict && !connection.left) {
    // The peer must learn the failure before its connection ends, which it would take for the death
    // of this rank.
    RunFailure failure = {connection.rank(), false, who + " has sent what is no part of the run"};
    if (connection.rank() == 0)
      settle(std::move(failure));
    else
      publish(std::move(failure));
    connection.flush();
  }
  connection.close();
  if (verdict)
    return;
  if (connection.rank() == 0 && reported)
    return settle(*reported);
  if (connection.left || state == Connection::State::senseless)
    return;
  publish(
      {connection.rank(), false, who + " died: its connection ended without its leaving the run"});
}

/// Sends a heartbeat. Finds ranks that are frozen, and settles a reported failure
/// if the answer of rank 0 is overdue. `passed` is the time since the last call, but
/// at most kTickSeconds, because the time during which this process was stopped
/// must not count as silence of its peers.
void Mesh::tick(double passed) {
  runSeconds += passed;
  if (runSeconds - lastBeat >= kTickSeconds) {
    lastBeat = runSeconds;
    Frame beat = frameOf(FrameKind::beat);
    beat.waitsFor = waitsFor;
    // A peer that takes no frames would let its queue grow for ever.
    for (Connection &connection : connections)
      if (!connection.hasWaitingFrames())
        connection.send(beat);
  }
  for (const Connection &connection : connections) {
    const bool isSilent =
        connection.isOpen() && !connection.left && runSeconds - connection.heardAt > frozenSeconds;
    if (!isSilent || verdict)
      continue;
    publish({connection.rank(), false, silenceOf(connection.rank())});
  }
  if (reported && !verdict && runSeconds > answerDue)
    settle(*reported);
}

/// Says that nothing is heard of a rank. If nothing is heard of its whole host either, although
/// another host is heard, the host may be cut off.
std::string Mesh::silenceOf(uint32_t peer) const {
  bool isHostSilent = !places[peer].empty(), isOtherHeard = false;
  for (uint32_t r = 0; r < worldSize; ++r) {
    if (r == rank)
      continue;
    const bool isHeard = connections[r].isOpen() && !isStill(r);
    if (places[r] == places[peer])
      isHostSilent = isHostSilent && !isHeard;
    else
      isOtherHeard = isOtherHeard || isHeard;
  }
  char text[200];
  if (isHostSilent && (isOtherHeard || worldSize == 2))
    std::snprintf(
        text, sizeof text,
        "rank %u cannot be reached: nothing was heard from %s for %.1f s (the network, or "
        "stopped, or out of memory?)",
        peer, places[peer].c_str(), frozenSeconds);
  else
    std::snprintf(text, sizeof text,
                  "rank %u is frozen: nothing was heard of it for %.1f s "
                  "(stopped, or out of memory?)",
                  peer, frozenSeconds);
  return text;
}

/// Handles a failure that this rank noticed, or that another rank reported to this
/// rank. The run ends with this failure, unless this rank or rank 0 knows an earlier
/// one.
void Mesh::publish(RunFailure failure) {
  if (verdict || reported)
    return;
  const bool decides = rank == 0 || !connections[0].isOpen() || connections[0].left || isStill(0);
  if (decides)
    return settle(std::move(failure));
  connections[0].send(frameOf(FrameKind::report, failure), failure.text);
  reported = std::move(failure);
  answerDue = runSeconds + kAnswerSeconds;
}

void Mesh::settle(RunFailure failure) {
  verdict = std::move(failure);
  for (Connection &connection : connections)
    connection.dropData();
  sendToAll(frameOf(FrameKind::verdict, *verdict), verdict->text);
  changed.notify_all();
  if (host)
    host->failed();
}

void Mesh::tellChange() {
  changed.notify_all();
  if (host)
    host->changed();
}

dpc_status_t Mesh::failure() const { return fail(DPC_PEER, "%s", verdict->text.c_str()); }

/// Publishes a failure of this rank's thread, and waits until the run has one. Returns false if
/// no rank decides in time.
bool Mesh::publishAndWait(std::unique_lock<std::mutex> &lock, RunFailure failure) {
  if (failure.text.size() > Connection::kLongestText)
    failure.text.resize(Connection::kLongestText);
  publish(std::move(failure));
  flush();
  return changed.wait_for(lock, std::chrono::duration<double>(2 * kAnswerSeconds),
                          [&] { return verdict.has_value(); });
}

bool Mesh::abort(const char *reason) {
  std::unique_lock<std::mutex> lock(mutex);
  if (verdict)
    return false;
  publishAndWait(lock, {rank, true, "rank " + std::to_string(rank) + " failed: " + reason});
  return !verdict || (verdict->guilty == rank && verdict->selfReported);
}

dpc_status_t Mesh::stop(uint32_t guilty, const std::string &text) {
  std::unique_lock<std::mutex> lock(mutex);
  if (!publishAndWait(lock, {guilty, false, text}))
    settle({guilty, false, text});
  return failure();
}

bool Mesh::isToldElsewhere() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!verdict || verdict->selfReported)
    return verdict.has_value();
  for (uint32_t r = 0; r < rank; ++r)
    if (r != verdict->guilty && (connections[r].left || (connections[r].isOpen() && !isStill(r))))
      return true;
  return false;
}

Mesh::~Mesh() { leave(); }

dpc_status_t Mesh::leave() {
  if (!thread.joinable())
    return DPC_OK;
  const bool isClean = leaveTogether();
  // Meanwhile the thread still answers ranks that leave later.
  if (wire && !wire->close(isClean))
    (void)wire.release(); // a thread of the engine still uses it
  {
    std::lock_guard<std::mutex> lock(mutex);
    hasEnded = true;
    wakeThread();
  }
  thread.join();
  return !verdict || isToldElsewhere() ? dpc_status_t(DPC_OK) : failure();
}

/// Tells the others that this rank leaves, and waits until they have confirmed it. Returns
/// whether they have, the run has not failed, and no data is under way.
bool Mesh::leaveTogether() {
  std::unique_lock<std::mutex> lock(mutex);
  for (Connection &connection : connections)
    connection.dropData();
  isLeaving = true;
  sendToAll(frameOf(FrameKind::leave));
  flush();
  const bool all = changed.wait_for(lock, std::chrono::duration<double>(kLeaveSeconds), [&] {
    return std::all_of(connections.begin(), connections.end(), [&](const Connection &connection) {
      const bool isGuilty = verdict && verdict->guilty == connection.rank();
      return !connection.isOpen() || isGuilty || (connection.farewelled && !connection.hasOutput());
    });
  });
  const auto mute =
      std::find_if(connections.begin(), connections.end(), [](const Connection &connection) {
        return connection.isOpen() && !connection.left && !connection.farewelled;
      });
  // The others are not told, because the rank may only be slow, and may still have files to write.
  if (!all && !verdict && mute != connections.end())
    verdict = {mute->rank(), false,
               "rank " + std::to_string(mute->rank()) + " is frozen: it has not answered for " +
                   std::to_string(int(kLeaveSeconds)) + " s as the others leave"};
  return all && !verdict && pieces.empty();
}

} // namespace dpc::sockets

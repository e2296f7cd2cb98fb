// The threads that wait for Gloo. Only they call functions that send or wait.

#include "runtime/src/comm/gloo/GlooWire.h"

#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/base/Threads.h"
#include "runtime/src/comm/Connections.h"
#include "runtime/src/comm/gloo/Library.h"

#include <chrono>
#include <cstdio>
#include <utility>

namespace dpc::gloo {

namespace {

/// Longest wait for Gloo to connect two ranks, as long as ranks wait for each other to join.
constexpr double kConnectSeconds = 60;
/// Gloo only notices that a connection has ended. The sockets of the run know why, e.g. that a rank
/// died, and need less than this time to tell it.
constexpr std::chrono::duration<double> kWhySeconds(1);
constexpr std::chrono::duration<double> kProbeSeconds(0.5);
/// Longest wait of a rank that leaves before it is connected, if it has ended well and if not.
constexpr std::chrono::duration<double> kLeaveSeconds(10), kFailSeconds(0.5);

/// What a rank tells another one about itself.
struct Contact {
  dpc_status_t status;
  Place place;
  char reason[256]; ///< of a failure
};

/// The number of the address at which a rank listens for Gloo: the one that the user names, or the
/// one at which the other ranks have found this one. Gloo ends the process if it gets a name that
/// nobody knows, and its message for an address of another host is long. So `given` is tried here.
dpc_status_t numericHost(const std::string &given, int socket, std::string *out) {
  SocketAddress own;
  Fd trial;
  uint16_t port = 0;
  if (!given.empty())
    if (dpc_status_t status = listenOn(given, &trial, &port))
      return status;
  if (dpc_status_t status = localAddress(given.empty() ? socket : trial.get(), &own))
    return status;
  *out = own.host().empty() ? "127.0.0.1" : own.host(); // a Unix socket stays in the host
  return DPC_OK;
}

} // namespace

dpc_status_t GlooWire::open(const dpc_comm_options_t &options) {
  rank = options.rank, worldSize = options.world_size;
  // Rank 0 has a listener already, at the address that all ranks know.
  listenAt = options.listen && rank != 0 ? options.listen : "";
  return openLibrary(&table);
}

dpc_status_t GlooWire::listen(const std::vector<Fd> &sockets, std::vector<Place> *outPlaces) {
  std::string host;
  Reason reason;
  if (dpc_status_t status = numericHost(listenAt, sockets[rank == 0 ? 1 : 0].get(), &host))
    return failWithin(status, "--comm=gloo");
  const Outcome opened = withoutSignals([&] { // the threads of Gloo inherit the mask
    return table->open(rank, worldSize, host.c_str(), kConnectSeconds, &engine, &reason);
  });
  if (opened != kDone)
    return fail(DPC_IO, "--comm=gloo: Gloo cannot listen on %s: %s", host.c_str(), reason.text);
  for (uint32_t peer = 0; peer < worldSize; ++peer)
    if (peer != rank && table->place(engine, peer, &(*outPlaces)[peer], &reason) != kDone)
      return fail(DPC_IO, "--comm=gloo: %s", reason.text);
  return DPC_OK;
}

dpc_status_t GlooWire::meet(const std::vector<Fd> &sockets) {
  std::vector<Contact> own(worldSize), others;
  std::vector<Place> ownPlaces(worldSize);
  const dpc_status_t listens = listen(sockets, &ownPlaces);
  for (uint32_t peer = 0; peer < worldSize; ++peer) {
    own[peer].status = listens;
    own[peer].place = ownPlaces[peer];
    std::snprintf(own[peer].reason, sizeof own[peer].reason, "%s", listens ? dpc_last_error() : "");
  }
  // A rank that cannot listen tells the others why, and ends after that.
  const dpc_status_t swaps = swapRecords(sockets, own, &others);
  if (listens)
    return fail(listens, "%s", own[rank].reason);
  if (swaps)
    return swaps;
  for (uint32_t peer = 0; peer < worldSize; ++peer)
    if (others[peer].status) {
      others[peer].reason[sizeof others[peer].reason - 1] = 0;
      return failElsewhere(DPC_PEER, "rank %u failed: %s", peer, others[peer].reason);
    }
  for (const Contact &contact : others)
    places.push_back(contact.place);
  lanes.resize(size_t(2) * worldSize);
  failures.resize(worldSize);
  return DPC_OK;
}

void GlooWire::attach(wires::WireListener &given) {
  listener = &given;
  watcher = withoutSignals([this] { return std::thread([this] { watch(); }); });
}

void GlooWire::send(uint32_t peer, uint64_t ticket, const char *from, uint64_t bytes) {
  enqueue(peer, /*isSend=*/true, {ticket, const_cast<char *>(from), bytes, nullptr});
}

void GlooWire::receive(uint32_t peer, uint64_t ticket, char *to, uint64_t bytes) {
  enqueue(peer, /*isSend=*/false, {ticket, to, bytes, nullptr});
}

void GlooWire::enqueue(uint32_t peer, bool isSend, const Move &move) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Lane> &lane = laneOf(peer, isSend);
  if (!lane) {
    lane = std::make_unique<Lane>();
    lane->peer = peer, lane->isSend = isSend;
    lane->thread =
        withoutSignals([&] { return std::thread([this, at = lane.get()] { serve(*at); }); });
  }
  lane->moves.push_back(move);
  if (lane->isWaiting) // the thread posts this move, and waits again
    table->abort(lane->moves.front().handle);
  lane->changed.notify_all();
}

/// The thread of a lane.
void GlooWire::serve(Lane &lane) {
  Reason reason;
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    lane.changed.wait(lock, [&] { return isEnding || (lane.peer < tried && !lane.moves.empty()); });
    if (isEnding || !broken.empty())
      return; // close() releases the moves
    if (!failures[lane.peer].empty())
      return breakDown(lane.peer, failures[lane.peer]);
    if (lane.posted < lane.moves.size()) {
      Move &move = lane.moves[lane.posted];
      lock.unlock(); // a call of Gloo may copy many bytes to a socket
      const Outcome result =
          table->post(engine, lane.peer, lane.isSend, move.at, move.bytes, &move.handle, &reason);
      lock.lock();
      if (result != kDone)
        return breakDown(lane.peer, reason.text);
      lane.posted += 1;
      continue;
    }
    const Move move = lane.moves.front();
    lane.isWaiting = true;
    lock.unlock();
    const Outcome result = table->wait(move.handle, &reason);
    lock.lock();
    lane.isWaiting = false;
    if (result == kFailed)
      return breakDown(lane.peer, reason.text);
    if (result == kAborted)
      continue;
    lane.moves.pop_front();
    lane.posted -= 1;
    lock.unlock();
    table->release(move.handle);
    listener->moved({move.ticket});
    lock.lock();
  }
}

/// The wire cannot be used any more. The caller must hold the lock.
void GlooWire::breakDown(uint32_t peer, const std::string &reason) {
  if (broken.empty())
    broken = "Gloo's connection with rank " + std::to_string(peer) + ": " + reason;
  changed.notify_all();
}

/// The thread that connects the ranks, and then looks after the connections.
void GlooWire::watch() {
  connectAll();
  std::unique_lock<std::mutex> lock(mutex);
  while (!isEnding && broken.empty()) {
    changed.wait_for(lock, kProbeSeconds, [&] { return isEnding || !broken.empty(); });
    findBroken(lock);
  }
  if (!changed.wait_for(lock, kWhySeconds, [&] { return isEnding; })) {
    const std::string reason = broken;
    lock.unlock();
    listener->broke(reason);
  }
}

/// Connects this rank with all others. The order of the ranks does not matter, because Gloo's own
/// thread accepts connections. A rank that needs no messages of this one may have left already, so
/// it is no failure that it cannot be connected.
void GlooWire::connectAll() {
  for (uint32_t peer = 0; peer < worldSize; ++peer) {
    Reason reason;
    const Outcome result =
        peer == rank ? kDone : table->connect(engine, peer, &places[peer], &reason);
    std::lock_guard<std::mutex> lock(mutex);
    if (result != kDone)
      failures[peer] = reason.text;
    tried = peer + 1;
    for (const bool isSend : {true, false})
      if (const auto &lane = laneOf(peer, isSend))
        lane->changed.notify_all();
    changed.notify_all();
  }
}

/// Gloo tells nothing to a message of which a part has moved when the connection breaks. So this
/// looks for moves that wait although their connection is broken. A rank that has left has closed
/// its connections, too, but a move that is complete does not wait for long: it must be seen twice.
void GlooWire::findBroken(std::unique_lock<std::mutex> &lock) {
  for (size_t i = 0; i < lanes.size() && !isEnding && broken.empty(); ++i) {
    Lane *lane = lanes[i].get();
    if (!lane || !lane->isWaiting)
      continue;
    const uint64_t waits = lane->moves.front().ticket;
    Reason reason;
    lock.unlock();
    const Outcome result = table->probe(engine, lane->peer, &reason);
    lock.lock();
    const bool stillWaits = lane->isWaiting && lane->moves.front().ticket == waits;
    if (result != kFailed || !stillWaits)
      continue;
    if (lane->suspect == waits)
      return breakDown(lane->peer, reason.text);
    lane->suspect = waits;
  }
}

bool GlooWire::close(bool isClean) {
  std::unique_lock<std::mutex> lock(mutex);
  // Otherwise the others would wait for this rank to connect, although they need it no more. Gloo
  // can end the process of a rank whose peer closes a connection while Gloo makes it.
  if (watcher.joinable())
    changed.wait_for(lock, isClean ? kLeaveSeconds : kFailSeconds,
                     [&] { return tried == worldSize; });
  isEnding = true;
  changed.notify_all();
  for (const auto &lane : lanes) {
    if (lane && lane->isWaiting)
      table->abort(lane->moves.front().handle);
    if (lane)
      lane->changed.notify_all();
  }
  const bool isConnecting = watcher.joinable() && tried < worldSize;
  lock.unlock();
  if (isConnecting)
    table->shut(engine);
  if (watcher.joinable())
    watcher.join();
  for (const auto &lane : lanes)
    if (lane) {
      lane->thread.join();
      for (const Move &move : lane->moves)
        if (move.handle)
          table->release(move.handle);
    }
  lanes.clear();
  if (engine)
    table->close(std::exchange(engine, nullptr));
  return true;
}

GlooWire::~GlooWire() { close(false); }

} // namespace dpc::gloo

// Starts operations, advances them, and handles the frames that arrive.
// MeshThread.cpp has the thread, and decides with which failure a run ends.
#include "runtime/src/comm/sockets/Mesh.h"
#include "runtime/src/comm/Timeouts.h"
#include "runtime/src/comm/Waits.h"

#include "dpc/action.h"
#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/base/Threads.h"
#include "runtime/src/comm/ReduceKernels.h"
#include "runtime/src/comm/Requests.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sys/eventfd.h>
#include <unistd.h>

namespace dpc::sockets {

namespace {
/// A peer that announces more operations than this before this rank starts them follows no plan.
constexpr uint64_t kMostAhead = 1 << 16;
} // namespace

Mesh::Mesh(const dpc_comm_options_t &options, const std::vector<Group> &groups,
           std::vector<Fd> sockets, std::unique_ptr<wires::Wire> givenWire, MeshHost *host)
    : rank(options.rank), worldSize(options.world_size),
      groupCount(static_cast<uint32_t>(groups.size())), timeoutSeconds(timeoutOf(options)),
      frozenSeconds(frozenAfter(options)), wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      wire(std::move(givenWire)), host(host) {
  for (const Group &group : groups)
    channels.push_back({group.members, group.self, false});
  for (uint32_t r = 0; r < worldSize; ++r)
    channels.push_back({{rank, r}, 0, true});
  for (uint32_t r = 0; r < worldSize; ++r)
    channels.push_back({{r, rank}, 1, true});
  for (Channel &channel : channels)
    channel.announced.resize(channel.members.size());
  for (uint32_t r = 0; r < worldSize; ++r) {
    places.push_back(sockets[r].valid() ? otherHost(sockets[r].get()) : "");
    connections.emplace_back(r, std::move(sockets[r]));
  }
  if (worldSize == 1)
    return;
  if (wire)
    wire->attach(*this);
  thread = withoutSignals([this] { return std::thread([this] { run(); }); });
}

/// The index of the rank `peer` among the members of a channel. DPC_NONE if the
/// channel does not exist or `peer` is not a member.
uint32_t Mesh::memberOf(uint32_t channel, uint32_t peer) const {
  if (channel >= channels.size())
    return DPC_NONE;
  const std::vector<uint32_t> &members = channels[channel].members;
  const auto at = std::find(members.begin(), members.end(), peer);
  return at == members.end() ? DPC_NONE : static_cast<uint32_t>(at - members.begin());
}

Exchange &Mesh::exchangeAt(Channel &channel, uint64_t sequence) {
  return channel.open
      .try_emplace(sequence, static_cast<uint32_t>(channel.members.size()), channel.self, staging)
      .first->second;
}

dpc_status_t Mesh::start(const dpc_comm_op_t &op, dpc_request_t *outRequest) {
  std::lock_guard<std::mutex> lock(mutex);
  if (verdict)
    return failure();
  uint32_t index = op.family;
  if (op.op == DPC_OP_SEND || op.op == DPC_OP_RECV) {
    const uint32_t peer = channels[op.family].members[op.peer];
    index = op.op == DPC_OP_SEND ? toRank(peer) : fromRank(peer);
  }
  Channel &channel = channels[index];
  const uint64_t sequence = channel.started++;
  Exchange &exchange = exchangeAt(channel, sequence);
  exchange.start(op, channel.onPair);
  Frame frame = frameOf(FrameKind::start);
  frame.sequence = sequence;
  frame.said = announce(op, channel.onPair);
  for (uint32_t member : channel.members)
    if (member != rank) {
      frame.channel = !channel.onPair        ? index
                      : op.op == DPC_OP_SEND ? fromRank(rank)
                                             : toRank(rank);
      connections[member].send(frame);
    }
  advance(index, sequence, exchange);
  flush();
  *outRequest = Request{index, sequence}.number();
  return DPC_OK;
}

/// Does all work on an operation that is possible now, without waiting.
void Mesh::advance(uint32_t index, uint64_t sequence, Exchange &exchange) {
  if (verdict || !exchange.isStarted() || !exchange.allAnnounced())
    return;
  if (!exchange.moving) {
    if (!exchange.agrees()) {
      Departure departure =
          findDeparture(exchange.announcements(), channels[index].members, sequence);
      return publish({departure.guilty, false, std::move(departure.text)});
    }
    exchange.moving = true;
    sendPhase(index, sequence, exchange);
  }
  while (exchange.phase < Exchange::kPhases && exchange.hasReceived(exchange.phase)) {
    exchange.compute(exchange.phase);
    if (++exchange.phase < Exchange::kPhases)
      sendPhase(index, sequence, exchange);
  }
}

void Mesh::sendPhase(uint32_t index, uint64_t sequence, Exchange &exchange) {
  const Channel &channel = channels[index];
  Frame frame = frameOf(FrameKind::data);
  frame.channel = channel.onPair ? fromRank(rank) : index; // only the sender of a pair has data
  frame.sequence = sequence;
  frame.phase = exchange.phase;
  for (Transfer &transfer : exchange.outgoing(exchange.phase)) {
    const uint32_t peer = channel.members[transfer.member];
    if (host && host->shares(peer)) {
      Frame lent = frame;
      lent.kind = FrameKind::lend;
      lent.offset = host->lend(transfer.at, transfer.bytes);
      transfer.posted = transfer.bytes;
      connections[peer].send(lent);
    } else if (wire)
      offer(frame, index, transfer);
    else
      connections[peer].sendData(frame, transfer.at, transfer.bytes, &transfer.moved);
  }
}

/// Sends a transfer over the wire. A frame tells the receiver of each piece where it belongs.
/// Frames to a rank arrive in their order, so both sides post the pieces in one order.
void Mesh::offer(Frame frame, uint32_t index, Transfer &transfer) {
  constexpr uint64_t kLongestPiece = 1u << 30; // engines count bytes as an int
  const uint32_t peer = channels[index].members[transfer.member];
  frame.kind = FrameKind::offer;
  while (transfer.posted < transfer.bytes) {
    const uint64_t bytes = std::min(transfer.bytes - transfer.posted, kLongestPiece);
    frame.offset = transfer.posted;
    frame.length = static_cast<uint32_t>(bytes);
    connections[peer].send(frame);
    pieces[++nextTicket] = {index, frame.sequence, &transfer, bytes};
    wire->send(peer, nextTicket, transfer.at + transfer.posted, bytes);
    transfer.posted += bytes;
  }
}

bool Mesh::offerArrived(uint32_t from, const Frame &frame) {
  Transfer *transfer = transferOf(from, frame);
  if (!transfer || frame.offset != transfer->posted || frame.length == 0 ||
      frame.length > transfer->bytes - transfer->posted)
    return false;
  pieces[++nextTicket] = {frame.channel, frame.sequence, transfer, frame.length};
  wire->receive(from, nextTicket, transfer->at + transfer->posted, frame.length);
  transfer->posted += frame.length;
  return true;
}

bool Mesh::lendArrived(uint32_t from, const Frame &frame) {
  Transfer *transfer = transferOf(from, frame);
  if (!transfer || transfer->moved)
    return false;
  const char *lent = host->borrow(frame.offset, transfer->bytes);
  if (!lent)
    return false;
  copyBytes(transfer->at, lent, transfer->bytes);
  transfer->moved = transfer->bytes;
  Frame taken = frame;
  taken.kind = FrameKind::taken;
  if (channels[frame.channel].onPair)
    taken.channel = toRank(rank);
  connections[from].send(taken);
  advance(frame.channel, frame.sequence, exchangeAt(channels[frame.channel], frame.sequence));
  return true;
}

bool Mesh::takenArrived(uint32_t from, const Frame &frame) {
  Transfer *transfer = transferOf(from, frame);
  if (!transfer || transfer->moved || !transfer->posted)
    return false;
  transfer->moved = transfer->bytes;
  return true;
}

void Mesh::moved(const std::vector<uint64_t> &tickets) {
  std::lock_guard<std::mutex> lock(mutex);
  for (uint64_t ticket : tickets) {
    const auto at = pieces.find(ticket);
    const Piece piece = at->second;
    pieces.erase(at);
    piece.transfer->moved += piece.bytes;
    // The operation is still there, because it is not complete before its transfers are.
    advance(piece.channel, piece.sequence, exchangeAt(channels[piece.channel], piece.sequence));
  }
  flush();
  tellChange();
}

void Mesh::broke(const std::string &reason) {
  std::lock_guard<std::mutex> lock(mutex);
  publish({rank, false, "rank " + std::to_string(rank) + " cannot communicate: " + reason});
  flush();
}

dpc_status_t Mesh::wait(dpc_request_t request) {
  const auto [index, sequence] = Request::of(request);
  std::unique_lock<std::mutex> lock(mutex);
  if (index >= channels.size() || sequence >= channels[index].started)
    return fail(DPC_INVALID, "wait for a communication that was never started");
  Channel &channel = channels[index];
  const auto at = channel.open.find(sequence);
  if (at == channel.open.end())
    return DPC_OK; // an earlier call has waited for this operation
  const dpc_status_t status = waitUntilComplete(lock, channel, at->second);
  waitsFor = DPC_NONE;
  if (status == DPC_OK)
    channel.open.erase(at);
  return status;
}

bool Mesh::isComplete(dpc_request_t request) {
  const auto [index, sequence] = Request::of(request);
  std::lock_guard<std::mutex> lock(mutex);
  if (verdict || index >= channels.size())
    return true;
  const auto at = channels[index].open.find(sequence);
  return at == channels[index].open.end() || at->second.isComplete();
}

dpc_status_t Mesh::waitUntilComplete(std::unique_lock<std::mutex> &lock, const Channel &channel,
                                     const Exchange &exchange) {
  const double begin = monotonicSeconds();
  while (!exchange.isComplete()) {
    if (verdict)
      return failure();
    const uint32_t laggard = exchange.laggard();
    const Wait first = {rank, channel.members[laggard]};
    // The last frame of a rank may overtake the data that the wire brings from the rank.
    const bool hasLeft = first.late != rank && connections[first.late].left &&
                         !(wire && exchange.isPostedBy(laggard));
    const double waited = monotonicSeconds() - begin;
    if (waited > toldAfter(timeoutSeconds))
      waitsFor = first.late;
    if (hasLeft)
      publish({first.late, false, waitText(first, "has left the run", &exchange.operation())});
    else if (waited > timeoutSeconds) {
      const Wait last =
          findLastWait(first, worldSize, [this](uint32_t r) { return knownWaitOf(r); });
      publish({last.late, false,
               waitText(last, silence(timeoutSeconds),
                        last.rank == rank ? &exchange.operation() : nullptr)});
    }
    flush();
    if (!verdict)
      changed.wait_for(lock, std::chrono::milliseconds(50));
  }
  return DPC_OK;
}

/// Whether nothing has been heard of an open peer for stillAfter(frozenSeconds).
bool Mesh::isStill(uint32_t peer) const {
  const Connection &connection = connections[peer];
  return connection.isOpen() && runSeconds - connection.heardAt > stillAfter(frozenSeconds);
}

/// The rank that rank `r` waits for, or DPC_NONE if this rank knows of no wait.
uint32_t Mesh::knownWaitOf(uint32_t r) const {
  if (r == rank)
    return waitsFor;
  return isStill(r) ? DPC_NONE : connections[r].waitsFor;
}

uint32_t Mesh::waitOf(uint32_t r) {
  std::lock_guard<std::mutex> lock(mutex);
  return knownWaitOf(r);
}

void Mesh::tellWait(uint32_t late) {
  std::lock_guard<std::mutex> lock(mutex);
  waitsFor = late;
}

bool Mesh::hasLeft(uint32_t r) {
  std::lock_guard<std::mutex> lock(mutex);
  return connections[r].left;
}

dpc_status_t Mesh::check() {
  std::lock_guard<std::mutex> lock(mutex);
  return verdict ? failure() : dpc_status_t(DPC_OK);
}

/// Whether frames of this kind move the data between this rank and `peer`. Data that moves in two
/// ways would be counted twice.
bool Mesh::moves(FrameKind kind, uint32_t peer) const {
  const bool isShared = host && host->shares(peer);
  if (kind == FrameKind::lend || kind == FrameKind::taken)
    return isShared;
  return !isShared && (kind == FrameKind::offer) == (wire != nullptr);
}

/// The transfer to or from the rank `from` to which a frame belongs; null if the frame is invalid.
Transfer *Mesh::transferOf(uint32_t from, const Frame &frame) {
  const uint32_t member = memberOf(frame.channel, from);
  if (member == DPC_NONE || !moves(frame.kind, from))
    return nullptr;
  auto &open = channels[frame.channel].open;
  const auto at = open.find(frame.sequence);
  if (at == open.end())
    return nullptr;
  return frame.kind == FrameKind::taken ? at->second.outgoingTo(frame.phase, member)
                                        : at->second.incoming(frame.phase, member);
}

char *Mesh::placeFor(uint32_t from, const Frame &frame) {
  const Transfer *transfer = transferOf(from, frame);
  const bool fits = transfer && frame.offset == transfer->moved &&
                    frame.bytes <= transfer->bytes - transfer->moved;
  return fits ? transfer->at + frame.offset : nullptr;
}

bool Mesh::startArrived(uint32_t from, const Frame &frame) {
  const uint32_t member = memberOf(frame.channel, from);
  if (member == DPC_NONE)
    return false;
  Channel &channel = channels[frame.channel];
  uint64_t &announced = channel.announced[member];
  if (frame.sequence != announced || announced >= channel.started + kMostAhead ||
      connections[from].left)
    return false;
  ++announced;
  Exchange &exchange = exchangeAt(channel, frame.sequence);
  exchange.announce(member, frame.said);
  advance(frame.channel, frame.sequence, exchange);
  return true;
}

/// Handles a report or a verdict. The message comes from another process, and must not break the
/// line that this rank prints.
bool Mesh::failureArrived(uint32_t from, const Frame &frame, const std::string &text) {
  const RunFailure told = {frame.guilty, frame.selfReported != 0, oneLine(text)};
  if (told.guilty >= worldSize || text.empty())
    return false;
  if (frame.kind == FrameKind::report) {
    if (rank != 0 || (told.selfReported && told.guilty != from))
      return false;
    publish(told);
    return true;
  }
  // Each rank knows whether it has published its own failure, and then prints it.
  if (told.selfReported && told.guilty == rank && !verdict && !(reported && reported->selfReported))
    return false;
  if (!verdict)
    settle(told);
  return true;
}

bool Mesh::arrived(uint32_t from, const Frame &frame, const std::string &text) {
  Connection &connection = connections[from];
  switch (frame.kind) {
  case FrameKind::start:
    return startArrived(from, frame);
  case FrameKind::data: // the transfer exists, because placeFor has found it for this frame
    transferOf(from, frame)->moved += frame.bytes;
    advance(frame.channel, frame.sequence, exchangeAt(channels[frame.channel], frame.sequence));
    return true;
  case FrameKind::offer:
    return offerArrived(from, frame);
  case FrameKind::lend:
    return lendArrived(from, frame);
  case FrameKind::taken:
    return takenArrived(from, frame);
  case FrameKind::beat:
    connection.waitsFor = frame.waitsFor;
    return frame.waitsFor < worldSize || frame.waitsFor == DPC_NONE;
  case FrameKind::report:
  case FrameKind::verdict:
    return failureArrived(from, frame, text);
  case FrameKind::leave:
    if (connection.left)
      return false; // each `leave` costs memory for an answer
    connection.left = true;
    connection.waitsFor = DPC_NONE;
    connection.send(frameOf(FrameKind::farewell));
    return true;
  case FrameKind::farewell:
    if (!isLeaving || connection.farewelled)
      return false;
    connection.farewelled = true;
    return true;
  }
  return false;
}

void Mesh::sendToAll(Frame frame, const std::string &text) {
  for (Connection &connection : connections)
    connection.send(frame, text);
}

/// Writes queued frames until the sockets accept no more. The thread writes the
/// other frames.
void Mesh::flush() {
  bool rest = false;
  for (Connection &connection : connections) {
    connection.flush();
    rest = rest || connection.hasOutput();
  }
  if (rest)
    wakeThread();
}

void Mesh::wakeThread() {
  const uint64_t one = 1;
  const ssize_t written = ::write(wake.get(), &one, sizeof one);
  (void)written; // if the counter is full, the thread is awake
}

} // namespace dpc::sockets

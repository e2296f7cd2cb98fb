// Moves the data of collectives and messages through shared memory.
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/nccl/Communicator.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

using namespace dpc::cuda;
using namespace dpc::emulator;

/// Whether all ranks run this collective. Each rank finds a difference itself.
static bool agree(const Transfer &transfer) {
  Communicator &comm = *transfer.communicator;
  SharedState &shared = *comm.shared;
  shared.collective[comm.rank] = transfer.what;
  if (!comm.meet())
    return false;
  for (int other = 0; other < comm.ranks; ++other) {
    const Collective &theirs = shared.collective[other];
    if (theirs == transfer.what)
      continue;
    auto describe = [](const Collective &one) {
      return std::string(nameOf(one.kind)) + " of " + std::to_string(one.count) +
             " elements of type " + std::to_string(static_cast<int>(one.type)) + ", reduction " +
             std::to_string(static_cast<int>(one.reduction)) + ", root " + std::to_string(one.root);
    };
    comm.failWith(NcclResult::invalidUsage, "runs " + describe(transfer.what) + " while rank " +
                                                std::to_string(other) + " runs " +
                                                describe(theirs));
    return false;
  }
  return true;
}

/// One piece of a collective: `count` elements from element `at` on.
static bool movePiece(const Transfer &transfer, size_t at, size_t count, size_t step) {
  Communicator &comm = *transfer.communicator;
  SharedState &shared = *comm.shared;
  const Collective &what = transfer.what;
  const int ranks = comm.ranks, me = comm.rank;
  const size_t width = bytesOf(what.type), total = what.count;
  const bool scatters = what.kind == CollectiveKind::reduceScatter;
  if (what.kind != CollectiveKind::broadcast || what.root == me)
    for (int part = 0; part < (scatters ? ranks : 1); ++part)
      std::memcpy(shared.slot[me] + part * step * width,
                  transfer.from + (part * total + at) * width, count * width);
  if (!comm.meet())
    return false;
  const char *sources[kMaxRanks];
  switch (what.kind) {
  case CollectiveKind::allReduce:
  case CollectiveKind::reduce: {
    // Each rank reduces its share of the piece for all.
    const size_t first = count * static_cast<size_t>(me) / static_cast<size_t>(ranks),
                 behind = count * static_cast<size_t>(me + 1) / static_cast<size_t>(ranks);
    for (int r = 0; r < ranks; ++r)
      sources[r] = shared.slot[r] + first * width;
    reduceBuffers(shared.result + first * width, sources, ranks, behind - first, what.type,
                  what.reduction);
    if (!comm.meet())
      return false;
    if (what.kind == CollectiveKind::allReduce || what.root == me)
      std::memcpy(transfer.to + at * width, shared.result, count * width);
    break;
  }
  case CollectiveKind::reduceScatter:
    for (int r = 0; r < ranks; ++r)
      sources[r] = shared.slot[r] + me * step * width;
    reduceBuffers(transfer.to + at * width, sources, ranks, count, what.type, what.reduction);
    break;
  case CollectiveKind::allGather:
    for (int r = 0; r < ranks; ++r)
      std::memcpy(transfer.to + (r * total + at) * width, shared.slot[r], count * width);
    break;
  default: // broadcast
    std::memcpy(transfer.to + at * width, shared.slot[what.root], count * width);
    break;
  }
  return comm.meet();
}

static void runCollective(const Transfer &transfer) {
  const Collective &what = transfer.what;
  if (!agree(transfer))
    return;
  const bool moves = !Options::get().runsSomeBlocks();
  const size_t width = bytesOf(what.type),
               parts = what.kind == CollectiveKind::reduceScatter
                           ? static_cast<size_t>(transfer.communicator->ranks)
                           : 1,
               step = kSlotBytes / parts / width;
  for (size_t at = 0; moves && at < what.count; at += step)
    if (!movePiece(transfer, at, std::min(step, what.count - at), step))
      return;
  // What one rank says of its next collective must not overtake a slow reader of this one.
  (void)transfer.communicator->meet();
}

namespace {
/// A message that is under way.
struct Message {
  const Transfer *transfer;
  size_t moved = 0; // bytes
  bool isDone = false;

  bool sends() const { return transfer->what.kind == CollectiveKind::send; }
  size_t bytes() const { return transfer->what.count * bytesOf(transfer->what.type); }
  bool sharesChannel(const Message &other) const {
    return transfer->communicator == other.transfer->communicator && sends() == other.sends() &&
           transfer->what.root == other.transfer->what.root;
  }
  bool advance();
};
} // namespace

/// Moves the next piece if the channel allows it; whether it did.
bool Message::advance() {
  Communicator &comm = *transfer->communicator;
  const int peer = transfer->what.root;
  Mail &mail = sends() ? comm.shared->mail[comm.rank][peer] : comm.shared->mail[peer][comm.rank];
  if (mail.full != (sends() ? 0u : 1u))
    return false;
  const size_t piece = std::min(kMailBytes, bytes() - moved);
  const bool copies = !Options::get().runsSomeBlocks();
  if (sends()) {
    if (copies)
      std::memcpy(mail.data, transfer->from + moved, piece);
    mail.bytes = static_cast<uint32_t>(piece);
    mail.full = 1;
  } else if (mail.bytes != piece) {
    comm.failWith(NcclResult::invalidUsage, "receives " + std::to_string(piece) +
                                                " bytes where rank " + std::to_string(peer) +
                                                " sent " + std::to_string(mail.bytes));
    return false;
  } else {
    if (copies)
      std::memcpy(transfer->to + moved, mail.data, piece);
    mail.full = 0;
  }
  moved += piece;
  isDone = moved == bytes();
  return true;
}

/// All messages of a group advance together: a send waits for no receive.
static void runMessages(std::vector<Message> &messages) {
  size_t left = messages.size();
  for (unsigned idle = 0; left;) {
    bool moved = false;
    for (size_t i = 0; i < messages.size(); ++i) {
      Message &message = messages[i];
      if (message.isDone)
        continue;
      const bool isBlocked =
          std::any_of(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const Message &earlier) {
                        return !earlier.isDone && earlier.sharesChannel(message);
                      });
      if (isBlocked)
        continue;
      moved |= message.advance();
      Communicator &comm = *message.transfer->communicator;
      if (!message.isDone && ++idle % 2048 == 0)
        comm.watch(message.transfer->what.root);
      if (comm.error != NcclResult::success || comm.aborted)
        message.isDone = true;
      left -= message.isDone;
    }
    if (moved)
      idle = 0;
    else
      usleep(20);
  }
}

void dpc::emulator::execute(const std::vector<Transfer> &transfers) {
  std::vector<Message> messages;
  const Options &options = Options::get();
  for (const Transfer &transfer : transfers) {
    Communicator &comm = *transfer.communicator;
    if (comm.rank == options.ncclFailRank && ++comm.transfers == options.ncclFailAt)
      comm.failWith(NcclResult::systemError, "fails as DPC_EMU_NCCL_FAIL asks for");
    if (comm.error != NcclResult::success || comm.aborted)
      continue;
    if (transfer.what.kind >= CollectiveKind::send)
      messages.push_back({&transfer});
    else
      runCollective(transfer);
  }
  runMessages(messages);
}

// Measures each pair of ranks with sends and receives of the communicator. The lower rank leads:
// before each message it tells the other one how long the message is, so that it can choose
// lengths by the time that they take.

#include "runtime/src/check/Pairs.h"

#include "dpc/action.h"
#include "runtime/src/base/Clock.h"

#include <algorithm>
#include <cstring>

namespace dpc {

namespace {

constexpr uint64_t kLeastBytes = 64u << 10, kMostBytes = 4u << 20;
constexpr uint64_t kEnd = UINT64_MAX; ///< in place of a length: the pair is done
/// A message that takes less time does not show the speed of its link.
constexpr double kShortSeconds = 0.005;
constexpr double kPairSeconds = 0.04, kAllSeconds = 2;
constexpr int kWarmUps = 10, kMostEchoes = 200;
constexpr uint32_t kMostAlone = 8;

class Pair {
public:
  Pair(dpc_comm_t &comm, char *memory, uint32_t peer, double seconds)
      : comm(comm), message(memory), header(memory + kMostBytes), peer(peer), seconds(seconds) {}

  dpc_status_t lead(PairSpeed *out);
  dpc_status_t follow();

private:
  dpc_status_t move(uint32_t op, char *buffer, uint64_t bytes);
  dpc_status_t echo(uint64_t bytes, double *outSeconds);

  dpc_comm_t &comm;
  char *message, *header;
  uint32_t peer;
  double seconds;
};

dpc_status_t Pair::move(uint32_t kind, char *buffer, uint64_t bytes) {
  dpc_comm_op_t op = {};
  op.op = kind;
  op.peer = peer;
  op.dtype = DPC_U8;
  op.location = DPC_NONE;
  op.count = bytes;
  op.in = op.out = buffer; // not DPC_CONTROL_BUFFER, which an emulated link would not delay
  return dpc_comm_run(&comm, &op);
}

/// Sends a length and then a message of that length, if it is not 0, and waits for the answer.
dpc_status_t Pair::echo(uint64_t bytes, double *outSeconds) {
  const double begin = monotonicSeconds();
  std::memcpy(header, &bytes, sizeof bytes);
  if (dpc_status_t status = move(DPC_OP_SEND, header, sizeof bytes))
    return status;
  if (bytes)
    if (dpc_status_t status = move(DPC_OP_SEND, message, bytes))
      return status;
  if (dpc_status_t status = move(DPC_OP_RECV, header, sizeof bytes))
    return status;
  *outSeconds = monotonicSeconds() - begin;
  return DPC_OK;
}

dpc_status_t Pair::lead(PairSpeed *out) {
  std::vector<double> echoes;
  double took = 0, best = 0;
  for (int i = 0; i < kWarmUps; ++i)
    if (dpc_status_t status = echo(0, &took))
      return status;
  for (double spent = 0; echoes.empty() || (spent < seconds / 2 && echoes.size() < kMostEchoes);
       spent += took) {
    if (dpc_status_t status = echo(0, &took))
      return status;
    echoes.push_back(took);
  }
  const auto middle = echoes.begin() + static_cast<std::ptrdiff_t>(echoes.size() / 2);
  std::nth_element(echoes.begin(), middle, echoes.end());
  uint64_t bytes = kLeastBytes;
  for (double spent = 0; best == 0 || spent < seconds / 2; spent += took) {
    if (dpc_status_t status = echo(bytes, &took))
      return status;
    // The answer takes time too. If that is most of the time, the difference says nothing.
    best = std::max(best, double(bytes) / (took > 2 * *middle ? took - *middle / 2 : took));
    if (took < kShortSeconds)
      bytes = std::min(bytes * 4, kMostBytes);
  }
  *out = {static_cast<float>(*middle / 2), static_cast<float>(best)};
  std::memcpy(header, &kEnd, sizeof kEnd);
  return move(DPC_OP_SEND, header, sizeof kEnd);
}

dpc_status_t Pair::follow() {
  for (;;) {
    uint64_t bytes = 0;
    if (dpc_status_t status = move(DPC_OP_RECV, header, sizeof bytes))
      return status;
    std::memcpy(&bytes, header, sizeof bytes);
    if (bytes == kEnd)
      return DPC_OK;
    if (bytes)
      if (dpc_status_t status = move(DPC_OP_RECV, message, std::min(bytes, kMostBytes)))
        return status;
    if (dpc_status_t status = move(DPC_OP_SEND, header, sizeof bytes))
      return status;
  }
}

} // namespace

uint64_t pairMemory() { return kMostBytes + DPC_ALIGNMENT; }

std::vector<std::vector<std::pair<uint32_t, uint32_t>>> planPairs(uint32_t ranks) {
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> rounds;
  // The circle method: the last place stays, the others move on by one place in each round. With an
  // odd number of ranks, one place is empty.
  const uint32_t places = ranks + ranks % 2;
  for (uint32_t round = 0; round + 1 < places; ++round) {
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (uint32_t i = 0; i < places / 2; ++i) {
      const uint32_t a = (round + i) % (places - 1),
                     b = i == 0 ? places - 1 : (round + places - 1 - i) % (places - 1);
      if (std::max(a, b) < ranks)
        pairs.push_back(std::minmax(a, b));
    }
    if (ranks > kMostAlone)
      rounds.push_back(std::move(pairs));
    else
      for (const auto &pair : pairs)
        rounds.push_back({pair});
  }
  return rounds;
}

dpc_status_t measurePairs(dpc_comm_t &comm, std::vector<PairSpeed> *out) {
  const uint32_t ranks = comm.world_size;
  const auto rounds = planPairs(ranks);
  const double seconds =
      std::min(kPairSeconds, kAllSeconds / double(std::max<size_t>(1, rounds.size())));
  void *memory = nullptr;
  if (dpc_status_t status = comm.vtable->allocate(&comm, pairMemory(), &memory))
    return status;
  auto *bytes = static_cast<char *>(memory);
  std::vector<PairSpeed> own(ranks);
  for (const auto &round : rounds) {
    if (dpc_status_t status = dpc_comm_barrier(&comm))
      return status;
    for (const auto &[a, b] : round) {
      if (comm.rank != a && comm.rank != b)
        continue;
      Pair pair(comm, bytes, comm.rank == a ? b : a, seconds);
      if (dpc_status_t status = comm.rank == a ? pair.lead(&own[b]) : pair.follow())
        return status;
    }
  }
  // Rank 0 collects the speeds that the other ranks have measured.
  const uint64_t row = ranks * sizeof(PairSpeed);
  out->assign(comm.rank == 0 ? uint64_t(ranks) * ranks : 0, {});
  for (uint32_t r = 1; r < ranks; ++r) {
    if (comm.rank != 0 && comm.rank != r)
      continue;
    std::memcpy(bytes, own.data(), row);
    dpc_comm_op_t op = {};
    op.op = comm.rank == r ? DPC_OP_SEND : DPC_OP_RECV;
    op.peer = comm.rank == r ? 0 : r;
    op.dtype = DPC_U8;
    op.location = DPC_NONE;
    op.count = row;
    op.buffer_id = DPC_CONTROL_BUFFER;
    op.in = op.out = bytes;
    if (dpc_status_t status = dpc_comm_run(&comm, &op))
      return status;
    if (comm.rank == 0)
      std::memcpy(out->data() + uint64_t(r) * ranks, bytes, row);
  }
  if (comm.rank == 0)
    std::copy(own.begin(), own.end(), out->begin());
  return DPC_OK;
}

} // namespace dpc

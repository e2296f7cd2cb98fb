#ifndef DPC_TEST_CUDA_EMULATOR_NCCL_COMMUNICATOR_H
#define DPC_TEST_CUDA_EMULATOR_NCCL_COMMUNICATOR_H

#include "runtime/src/cuda/Nccl.h"

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace dpc::emulator {

enum class CollectiveKind : int {
  allReduce,
  reduceScatter,
  allGather,
  broadcast,
  reduce,
  send,
  receive,
};
const char *nameOf(CollectiveKind kind);

/// What all ranks must say alike of a collective; of a message the root is the peer.
struct Collective {
  CollectiveKind kind;
  cuda::NcclType type;
  cuda::NcclReduction reduction;
  int root;
  uint64_t count;

  bool operator==(const Collective &other) const;
};

inline constexpr int kMaxRanks = 16;
inline constexpr size_t kSlotBytes = 1 << 20, kMailBytes = 64 << 10;

/// A message on its way from one rank to another.
struct Mail {
  std::atomic<uint32_t> full;
  uint32_t bytes;
  char data[kMailBytes];
};

/// Memory that the ranks of a communicator share. Pages that nobody touches cost
/// nothing.
struct SharedState {
  std::atomic<uint64_t> arrived[kMaxRanks]; // meetings so far, by rank
  std::atomic<uint64_t> host[kMaxRanks];
  std::atomic<int> hasJoined[kMaxRanks];
  std::atomic<int> left[kMaxRanks]; // the rank has destroyed its communicator
  int device[kMaxRanks], color[kMaxRanks], key[kMaxRanks];
  Collective collective[kMaxRanks]; // what each rank runs
  Mail mail[kMaxRanks][kMaxRanks];  // [from][to]
  alignas(64) char result[kSlotBytes];
  alignas(64) char slot[kMaxRanks][kSlotBytes];
};

/// One rank of a communicator.
class Communicator {
public:
  Communicator(std::string name, int rank, int ranks);
  ~Communicator();

  /// Meets all other ranks; with an error, which `error` keeps, if one is lost,
  /// or uses the same device.
  void join(int device);
  /// Waits until every rank has come here as often. False after an error.
  bool meet();
  /// Notes an error if `peer` has ended or left.
  void watch(int peer);
  /// Waits for `ready`, watching that `peer` lives. False after an error.
  bool waitFor(int peer, const std::function<bool()> &ready);
  /// Notes the first error and says what happened on stderr.
  void failWith(cuda::NcclResult result, const std::string &message);

  const std::string name;
  const int rank, ranks;
  bool blocking = true;
  bool wasCaptured = false;                           // an operation, as part of a graph
  int splits = 0;                                     // communicators made of this one
  std::set<std::pair<CollectiveKind, int>> connected; // kinds that were run outside of a capture,
                                                      // messages with their peer
  std::atomic<cuda::NcclResult> error{cuda::NcclResult::success};
  std::atomic<bool> aborted{false};
  uint64_t transfers = 0; // run so far
  SharedState *shared = nullptr;
  int file = -1;       // of `shared`; the rank holds a lock on its byte
  std::thread starter; // of one that is not blocking
};

unsigned bytesOf(cuda::NcclType type);
/// out[i] = the reduction of in[r][i] over the ranks, in the order of ranks.
void reduceBuffers(char *out, const char *const *in, int ranks, size_t count, cuda::NcclType type,
                   cuda::NcclReduction reduction);

/// A collective or message with its memory, where the host reaches it.
struct Transfer {
  Collective what;
  const char *from;
  char *to;
  Communicator *communicator;
};
/// Runs transfers that were grouped: collectives in their order, messages together.
void execute(const std::vector<Transfer> &transfers);

} // namespace dpc::emulator

#endif // DPC_TEST_CUDA_EMULATOR_NCCL_COMMUNICATOR_H

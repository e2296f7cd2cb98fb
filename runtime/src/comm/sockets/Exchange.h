// One operation from its start to its end, as one member of the group sees it:
// who has announced it, what it sends and receives, what it computes between.
#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_EXCHANGE_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_EXCHANGE_H

#include "runtime/src/comm/Operation.h"

#include <vector>

namespace dpc::sockets {

/// A piece of memory that goes to a member, or comes from it.
struct Transfer {
  uint32_t member;
  char *at;
  uint64_t bytes;
  uint64_t moved; ///< of the bytes
};

/// Members that have announced the same operation exchange shards (phase 0),
/// reduce or copy what is theirs, and, in an all-reduce, exchange the results
/// (phase 1). Every member reduces in the order of the group, so all get the
/// same bits, and those of the transport `local`.
class Exchange {
public:
  static constexpr uint32_t kPhases = 2;

  /// An operation of a group of `members`, of which this rank is `self`. It is
  /// known when its first member announces it, be it this one or another.
  Exchange(uint32_t members, uint32_t self);

  /// What a member starts; false if it has said so before.
  bool announce(uint32_t member, const Announcement &said);
  /// This rank starts `op`, which has been checked.
  void start(const dpc_comm_op_t &op, bool onPair);
  bool isStarted() const { return started; }
  bool allAnnounced() const { return unannounced == 0; }
  bool agrees() const;
  const std::vector<Announcement> &announcements() const { return said; }

  /// The transfer of a phase from that member; null if there is none.
  Transfer *incoming(uint32_t phase, uint32_t member);
  std::vector<Transfer> &outgoing(uint32_t phase) { return sends[phase]; }
  /// Whether all that a phase waits for has come.
  bool hasReceived(uint32_t phase) const;
  /// What this member does after a phase: it reduces its shard, or copies what
  /// goes to itself.
  void compute(uint32_t phase);

  /// A member that keeps this one waiting: it has not announced the operation,
  /// or has not sent or taken all; `self` if there is none.
  uint32_t laggard() const;

  const dpc_comm_op_t &operation() const { return op; }

  uint32_t phase = 0;  ///< the one whose receipts are waited for
  bool moving = false; ///< all have announced the same: data is on its way
  /// `out` is complete, and `in` free.
  bool isComplete() const;

private:
  void planShards();
  void planCopies();
  void send(uint32_t phase, uint32_t member, const char *from, uint64_t bytes);
  void receive(uint32_t phase, uint32_t member, char *to, uint64_t bytes);
  char *input(uint64_t bytes) const;
  char *output(uint64_t bytes) const;
  uint64_t shardBegin(uint32_t member) const;

  uint32_t members;
  uint32_t self;
  std::vector<Announcement> said;
  std::vector<bool> hasAnnounced;
  uint32_t unannounced;
  bool started = false;
  dpc_comm_op_t op{};
  uint64_t elementSize = 0;
  std::vector<Transfer> sends[kPhases], receives[kPhases];
  std::vector<char> staging; ///< [members] shards to be reduced
  uint64_t stagingStride = 0;
};

} // namespace dpc::sockets

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_EXCHANGE_H

// One member's view of an operation from start to end: the announcements of all
// members, the transfers to send and receive, and the computation between them.
#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_EXCHANGE_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_EXCHANGE_H

#include "runtime/src/comm/Operation.h"

#include <vector>

namespace dpc::sockets {

/// A piece of memory that is sent to a member or received from it.
struct Transfer {
  uint32_t member;
  char *at;
  uint64_t bytes;
  uint64_t moved; ///< bytes sent or received so far
};

/// When all members have announced the same operation, they exchange shards
/// (phase 0), each reduces or copies its own shard, and in an all-reduce they
/// exchange the results (phase 1). Every member reduces in the order of the
/// group. So all get the same bits, which are also those of the transport
/// `local`.
class Exchange {
public:
  static constexpr uint32_t kPhases = 2;

  /// An operation of a group of `members`, in which this rank has index `self`.
  /// It is created by the first announcement of any member.
  Exchange(uint32_t members, uint32_t self);

  /// Records a member's announcement; false if that member has announced the
  /// operation before.
  bool announce(uint32_t member, const Announcement &said);
  /// Starts this rank's part of `op`, which has been checked.
  void start(const dpc_comm_op_t &op, bool onPair);
  bool isStarted() const { return started; }
  bool allAnnounced() const { return unannounced == 0; }
  bool agrees() const;
  const std::vector<Announcement> &announcements() const { return said; }

  /// The transfer that `member` sends in a phase; null if there is none.
  Transfer *incoming(uint32_t phase, uint32_t member);
  std::vector<Transfer> &outgoing(uint32_t phase) { return sends[phase]; }
  /// Whether all transfers of a phase have arrived.
  bool hasReceived(uint32_t phase) const;
  /// This member's computation after a phase: it reduces its shard, or copies
  /// the elements that it sends to itself.
  void compute(uint32_t phase);

  /// A member that keeps this one waiting, because it has not announced the
  /// operation, or not sent or accepted all data; `self` if there is none.
  uint32_t laggard() const;

  const dpc_comm_op_t &operation() const { return op; }

  uint32_t phase = 0;  ///< the phase whose transfers this rank awaits
  bool moving = false; ///< all members have announced the same, and data moves
  /// Whether `out` is complete and `in` may be written.
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
  std::vector<char> staging; ///< [members] inputs of the shard that this member reduces
  uint64_t stagingStride = 0;
};

} // namespace dpc::sockets

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_EXCHANGE_H

// One operation of a group, as one member of the group performs it: the
// announcements of all members, the transfers that this member sends and receives,
// and the computation between them.
#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_EXCHANGE_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_EXCHANGE_H

#include "runtime/src/comm/Operation.h"
#include "runtime/src/comm/sockets/Staging.h"

#include <vector>

namespace dpc::sockets {

/// A piece of memory whose bytes are sent to a member, or received from a member.
struct Transfer {
  uint32_t member;
  char *at;
  uint64_t bytes;
  uint64_t moved;  ///< bytes sent or received so far
  uint64_t posted; ///< bytes that the wire sends or receives, or has done so, or that this rank
                   ///< has lent
};

/// An operation has two phases. When all members have announced the same operation,
/// they exchange shards (phase 0). Then each member reduces or copies its own
/// shard. In an all-reduce, the members finally exchange their results (phase 1).
/// Every member reduces in the order of the group, so that all members, and the
/// transport `local`, get the same bits.
class Exchange {
public:
  static constexpr uint32_t kPhases = 2;

  /// An operation of a group of `members` ranks, in which this rank has the index
  /// `self`. The first announcement of any member creates the object. `pool` has the
  /// memory for arriving data, and must live longer.
  Exchange(uint32_t members, uint32_t self, StagingPool &pool);
  Exchange(const Exchange &) = delete;
  Exchange &operator=(const Exchange &) = delete;
  ~Exchange();

  /// Records a member's announcement. A member announces an operation once.
  void announce(uint32_t member, const Announcement &said);
  /// Starts this rank's part of `op`. The caller must have checked `op`.
  void start(const dpc_comm_op_t &op, bool onPair);
  bool isStarted() const { return started; }
  bool allAnnounced() const { return unannounced == 0; }
  bool agrees() const;
  const std::vector<Announcement> &announcements() const { return said; }

  /// The transfer from `member` to this rank in a phase; null if the operation has
  /// none.
  Transfer *incoming(uint32_t phase, uint32_t member);
  /// The transfer to `member` from this rank in a phase; null if there is none.
  Transfer *outgoingTo(uint32_t phase, uint32_t member);
  std::vector<Transfer> &outgoing(uint32_t phase) { return sends[phase]; }
  /// Whether all transfers of a phase have arrived.
  bool hasReceived(uint32_t phase) const;
  /// Does this member's computation after a phase: reduces its shard, or copies the
  /// elements that it would send to itself.
  void compute(uint32_t phase);

  /// The first member that has not announced the operation, or else the first one
  /// with an unfinished transfer. `self` if this rank waits for no member.
  uint32_t laggard() const;

  /// Whether the operation is complete on this rank if `member` sends no more frames: the
  /// member has announced it, and the wire has all pieces from the member.
  bool isPostedBy(uint32_t member) const;

  const dpc_comm_op_t &operation() const { return op; }

  uint32_t phase = 0;  ///< the phase whose transfers have not all arrived
  bool moving = false; ///< data moves, because all members have announced the same operation
  /// Whether `out` is complete and the caller may write `in`.
  bool isComplete() const;

private:
  void planShards();
  void planCopies();
  Transfer *find(std::vector<Transfer> *phases, uint32_t phase, uint32_t member);
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
  StagingPool &pool;
  /// [members] each member's input for the shard that this rank reduces
  StagingPool::Block staging;
  uint64_t stagingStride = 0;
};

} // namespace dpc::sockets

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_EXCHANGE_H

// The operations of one group of ranks, or of an ordered pair of ranks, as one
// member sees them: a ring buffer of outstanding operations, which complete in
// order. It needs no lock, because each member writes only its own lane (its part
// of the shared memory, see Segment.h).
#ifndef DPC_RUNTIME_SRC_COMM_LOCAL_CHANNEL_H
#define DPC_RUNTIME_SRC_COMM_LOCAL_CHANNEL_H

#include "runtime/src/comm/local/Peers.h"
#include "runtime/src/comm/local/Segment.h"

#include <vector>

namespace dpc::local {

/// An emulated link. An operation over the link completes no earlier than the
/// start of its last member, plus the latency of the operation's messages and the
/// transfer time.
struct Link {
  double bandwidth = 0; ///< bytes per second; 0: no limit
  double latency = 0;   ///< seconds per message
  int64_t freeAtNs = 0; ///< time at which the link has finished this rank's earlier transfers
  bool emulated() const { return bandwidth > 0 || latency > 0; }
};

class Channel {
public:
  /// A channel between `members`, with one lane per member. `self` is the index of
  /// this rank among the members. If `onPair`, member 0 sends and member 1
  /// receives.
  Channel(Segment &segment, std::vector<uint32_t> members, std::vector<Lane *> lanes, uint32_t self,
          bool onPair);

  /// Whether the ring has room for another operation. It has room if all members
  /// have finished the operation whose entry the new operation would overwrite.
  bool hasRoom() const;
  /// Announces an operation and returns its sequence number. The caller must have
  /// checked the operation.
  uint64_t post(const dpc_comm_op_t &op, int64_t nowNs);
  /// Does all work that is possible without waiting. Sets *outAdvanced if it did
  /// any work. If announcements differ, stops the run and returns DPC_PEER before any
  /// data moves.
  dpc_status_t progress(Link &link, Peers &peers, bool *outAdvanced);
  bool complete(uint64_t sequence) const { return sequence < completed; }
  bool idle() const { return completed == started; }
  /// The time at which the emulated link delivers the head operation, which is the
  /// oldest incomplete one. 0 if this rank has not done its share of the operation
  /// yet, because then the link is not the reason to wait.
  int64_t deadlineNs() const { return headWorked ? headDeadlineNs : 0; }
  /// The first member that has not announced the head operation, or else the first
  /// member that has not finished its share. DPC_NONE if all have finished it.
  uint32_t laggard() const;
  const dpc_comm_op_t &head() const { return pending[completed % kRing]; }

private:
  bool allPosted(uint64_t sequence) const;
  bool othersDone(uint64_t sequence) const;
  dpc_status_t checkAnnouncements(uint64_t sequence, Peers &peers) const;
  void work(uint64_t sequence);
  void finish(uint64_t sequence);
  void reduceShare(const dpc_comm_op_t &op, uint64_t sequence, bool rootOnly);
  void setDeadline(uint64_t sequence, Link &link);

  const char *inputOf(uint32_t member, uint64_t sequence) const;
  char *outputOf(uint32_t member, uint64_t sequence) const;
  void wake() const;

  Segment &segment;
  std::vector<uint32_t> members;
  std::vector<Lane *> lanes;
  uint32_t self;
  bool onPair;
  uint64_t started = 0;
  uint64_t completed = 0;
  bool headWorked = false; ///< this rank's share of operation `completed` is done
  int64_t headDeadlineNs = 0;
  std::vector<dpc_comm_op_t> pending; ///< [kRing]
  std::vector<const void *> ins;      ///< scratch memory of reduceShare, which must not allocate
  std::vector<void *> outs;
  std::vector<char> small; ///< this member's result of a small all-reduce or reduce; it is copied
                           ///< to the output when every member has read the inputs
};

} // namespace dpc::local

#endif // DPC_RUNTIME_SRC_COMM_LOCAL_CHANNEL_H

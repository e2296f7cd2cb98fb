// One member's view of a group (or ordered pair) of ranks: a ring of
// outstanding operations that complete in order. It needs no lock, because
// every member writes only its own lane.
#ifndef DPC_RUNTIME_SRC_COMM_LOCAL_CHANNEL_H
#define DPC_RUNTIME_SRC_COMM_LOCAL_CHANNEL_H

#include "runtime/src/comm/local/Segment.h"

#include <vector>

namespace dpc::local {

/// Emulated link: an operation completes no earlier than the last member's
/// start plus the link's latency and the transfer time.
struct Link {
  double bandwidth = 0; ///< bytes per second; 0: no limit
  double latency = 0;   ///< seconds per message
  int64_t freeAtNs = 0; ///< time at which this rank's earlier transfers are through
  bool emulated() const { return bandwidth > 0 || latency > 0; }
};

class Channel {
public:
  /// A channel that uses the lanes of `members`; `self` is this rank's index
  /// among them. `onPair`: member 0 sends and member 1 receives.
  Channel(Segment &segment, std::vector<uint32_t> members, std::vector<Lane *> lanes, uint32_t self,
          bool onPair);

  /// Whether another operation fits into the ring: all members have finished
  /// the operation that its next entry holds.
  bool hasRoom() const;
  /// Announces an operation, which has been validated, and returns its sequence
  /// number.
  uint64_t post(const dpc_comm_op_t &op, int64_t nowNs);
  /// Does all work that needs no waiting, and sets *outAdvanced if there was
  /// any. DPC_PEER, before data moves, if announcements differ.
  dpc_status_t progress(Link &link, bool *outAdvanced);
  bool complete(uint64_t sequence) const { return sequence < completed; }
  bool idle() const { return completed == started; }
  /// The time at which the emulated link delivers the head operation; 0 if this
  /// rank has not done its share of it yet, so that it waits for other things
  /// than the link.
  int64_t deadlineNs() const { return headWorked ? headDeadlineNs : 0; }
  /// A member that keeps this rank waiting, because it has not announced or not
  /// finished the head operation; DPC_NONE if there is none.
  uint32_t laggard() const;
  const dpc_comm_op_t &head() const { return pending[completed % kRing]; }

private:
  bool allPosted(uint64_t sequence) const;
  bool othersDone(uint64_t sequence) const;
  dpc_status_t checkAnnouncements(uint64_t sequence) const;
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
  std::vector<const void *> ins;      ///< scratch of reduceShare: no allocation after construction
  std::vector<void *> outs;
  std::vector<char> small; ///< private result of a small all-reduce, kept here until every member
                           ///< has read its inputs
};

} // namespace dpc::local

#endif // DPC_RUNTIME_SRC_COMM_LOCAL_CHANNEL_H

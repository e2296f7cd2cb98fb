// One group (or ordered pair) of ranks as one of its members sees it: a ring of
// outstanding operations that complete in order. No lock: every member writes
// only its own lane.
#ifndef DPC_RUNTIME_SRC_COMM_LOCAL_CHANNEL_H
#define DPC_RUNTIME_SRC_COMM_LOCAL_CHANNEL_H

#include "runtime/src/comm/local/Segment.h"

#include <vector>

namespace dpc::local {

/// Emulated link: an operation is complete no earlier than its last start plus
/// its latency and its transfer time.
struct Link {
  double bandwidth = 0; ///< bytes per second; 0: no limit
  double latency = 0;   ///< seconds per message
  int64_t freeAtNs = 0; ///< when this rank's earlier transfers have left the link
  bool emulated() const { return bandwidth > 0 || latency > 0; }
};

class Channel {
public:
  /// A channel of the lanes of `members`; `self` is this rank's index.
  /// `onPair`: member 0 sends, member 1 receives.
  Channel(Segment &segment, std::vector<uint32_t> members, std::vector<Lane *> lanes, uint32_t self,
          bool onPair);

  /// Whether a further operation fits: all members have finished the one that
  /// the ring's next entry held.
  bool hasRoom() const;
  /// Announces an operation (already validated) and returns its sequence
  /// number.
  uint64_t post(const dpc_comm_op_t &op, int64_t nowNs);
  /// Does what can be done without waiting. Sets *outAdvanced if anything was.
  /// DPC_PEER on a mismatch, before data moves.
  dpc_status_t progress(Link &link, bool *outAdvanced);
  bool complete(uint64_t sequence) const { return sequence < completed; }
  bool idle() const { return completed == started; }
  /// When the emulated link delivers the head operation; 0 when it is not that
  /// which is being waited for.
  int64_t deadlineNs() const { return headWorked ? headDeadlineNs : 0; }
  /// A member that this rank waits for: it has not announced or not finished
  /// the head operation; DPC_NONE if none.
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
  std::vector<char> small; ///< private result of a small all-reduce until every
                           ///< member has read its inputs
};

} // namespace dpc::local

#endif // DPC_RUNTIME_SRC_COMM_LOCAL_CHANNEL_H

#ifndef DPC_RUNTIME_SRC_COMM_LOCAL_PEERS_H
#define DPC_RUNTIME_SRC_COMM_LOCAL_PEERS_H

#include "dpc/comm.h"

#include <string>

namespace dpc::local {

/// The knowledge that the ranks of a run have of each other: failures, waits, and ranks that
/// left. If all ranks share memory, it is in that memory. Otherwise messages carry it.
class Peers {
public:
  virtual ~Peers() = default;
  /// Whether the run has failed. The engine asks in every round of a wait.
  virtual bool hasFailed() const = 0;
  /// Returns DPC_PEER with the failure of the run; DPC_OK if it has not failed.
  virtual dpc_status_t check() = 0;
  /// Ends the run because of `guilty`, unless it has failed already. Returns DPC_PEER with
  /// the failure of the run.
  virtual dpc_status_t stop(uint32_t guilty, const std::string &text) = 0;
  /// Tells the other ranks that this rank waits for `late`; DPC_NONE: for no rank.
  virtual void tellWait(uint32_t late) = 0;
  /// The rank that `rank` waits for. DPC_NONE if it waits for none, or if this knowledge is
  /// out of date because nothing has been heard of the rank.
  virtual uint32_t waitOf(uint32_t rank) = 0;
  /// Whether the rank has left the run on purpose.
  virtual bool hasLeft(uint32_t rank) = 0;
};

} // namespace dpc::local

#endif // DPC_RUNTIME_SRC_COMM_LOCAL_PEERS_H

// The operations of groups whose members share memory. The thread that starts and awaits
// operations also does their work.
#ifndef DPC_RUNTIME_SRC_COMM_LOCAL_ENGINE_H
#define DPC_RUNTIME_SRC_COMM_LOCAL_ENGINE_H

#include "runtime/src/comm/local/Channel.h"
#include "runtime/src/comm/local/Peers.h"

#include <functional>
#include <vector>

namespace dpc::local {

class Engine {
public:
  /// `segment` is open, and `groups` has the group of this rank in each family. All of
  /// them must live longer than the engine.
  Engine(const dpc_comm_options_t &options, const std::vector<Group> &groups, Segment &segment,
         Peers &peers);

  /// Whether all ranks that take part in the operation share memory.
  bool runs(const dpc_comm_op_t &op) const;
  /// Starts an operation. The caller must have checked it. Requests are below 2^63.
  dpc_status_t start(const dpc_comm_op_t &op, dpc_request_t *outRequest);
  dpc_status_t wait(dpc_request_t request);
  /// Does all work that is possible without waiting. Sets *outAdvanced if it did any.
  dpc_status_t progress(bool *outAdvanced);
  /// Whether all operations that this rank has started are complete.
  bool isIdle() const;
  /// Sleeps until another rank or thread calls Segment::ring for this rank, but not after the
  /// time `untilNs` (0: no limit) and not longer than a twentieth of a second. Does not sleep
  /// if there is work, or `isReady()` returns true.
  void sleep(int64_t untilNs, const std::function<bool()> &isReady);

private:
  template <typename Ready> dpc_status_t waitUntil(const Channel &channel, Ready ready);
  dpc_status_t timeOut(uint32_t late, const dpc_comm_op_t &op);
  int32_t channelOf(const dpc_comm_op_t &op);

  Segment &segment;
  Peers &peers;
  const std::vector<Group> &groups;
  std::vector<int32_t> groupChannel; ///< per family; -1: this rank has no group in the family, or
                                     ///< the group has members that share no memory
  std::vector<Channel> channels;
  std::vector<int32_t> pairChannel; ///< [2 * world]: to each rank, then from each rank; -1: not
                                    ///< used yet
  Link link;
  const uint32_t rank, worldSize;
  const double timeoutSeconds;
  bool oversubscribed;
};

} // namespace dpc::local

#endif // DPC_RUNTIME_SRC_COMM_LOCAL_ENGINE_H

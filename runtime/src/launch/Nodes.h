#ifndef DPC_RUNTIME_SRC_LAUNCH_NODES_H
#define DPC_RUNTIME_SRC_LAUNCH_NODES_H

#include "dpc/status.h"
#include "runtime/src/base/Sha256.h"
#include "runtime/src/launch/Launch.h"
#include "runtime/src/launch/NodeCause.h"
#include "runtime/src/launch/NodeLink.h"

#include <optional>
#include <string>
#include <vector>

namespace dpc {

/// What a launcher tells the others before a start of the ranks.
struct NodeRecord {
  uint32_t ranks;        ///< on this node; 0: an equal part of the program's ranks
  uint32_t programRanks; ///< the number of ranks for which the program was compiled
  uint32_t maxRestarts;
  uint32_t frozenSeconds; ///< the value of --frozen; 0: not given
  dpc_status_t status;    ///< why this node cannot start its ranks, with `text`; DPC_OK: it can
  char host[65];
  char version[23];
  char text[512];
};

/// What node 0 tells the others before a start of the ranks.
struct RunRecord {
  Digest nonce;  ///< makes the token of each start another one, so that a late rank of an earlier
                 ///< start is a stranger
  uint16_t port; ///< where rank 0 listens, at the host of the launchers' meeting
};

/// What node 0 tells the others when all ranks have ended.
struct FinishRecord {
  uint32_t anyLost; ///< a node does not take part in a further start
};

/// The ranks of this node, and where they meet the others.
struct NodeShare {
  uint32_t ranks = 0, firstRank = 0, worldSize = 0;
  std::string host, token; ///< of the meeting; the token has 64 hex digits
  uint16_t port = 0;
};

/// The launchers of a run on several hosts. One launcher runs on each host, which is called
/// a node. The launchers agree on the ranks of each node, report one cause if the run fails,
/// and end together. All of them talk to the launcher of node 0, which decides.
class Nodes {
public:
  Nodes() = default;
  Nodes(const Nodes &) = delete;
  Nodes &operator=(const Nodes &) = delete;
  /// Node 0 waits until the others have read its last messages, for at most a second.
  ~Nodes();

  /// Meets the launchers of the other nodes, and proves the token to them.
  dpc_status_t open(const LaunchOptions &options);

  /// Agrees on a start of the ranks. Every node must call it before each start. On node 0, `port`
  /// says where rank 0 listens. If any node cannot start its ranks, or if the nodes disagree, fails
  /// on all nodes, with a message that names the node.
  dpc_status_t agree(NodeRecord own, uint16_t port, NodeShare *out);

  /// Tells node 0 why this node fails. Only the first cause counts, and it replaces a symptom.
  void tell(dpc_status_t status, const char *text, bool isSymptom);
  /// All ranks of this node have ended.
  void end();
  /// Sends signs of life, and handles the messages that have arrived. Does not wait.
  void poll();

  /// Why the run fails, once the nodes know it. All nodes have the same verdict, except for nodes
  /// that are cut off.
  const NodeCause *verdict() const { return decided ? &*decided : nullptr; }
  /// The verdict for the user of this host. On the host that failed, this is the cause itself. On
  /// the others, it names that host.
  std::string verdictText() const;
  /// Whether all ranks of all nodes have ended. If a node is cut off, its ranks do not count.
  bool isFinished() const { return finished; }
  /// Whether every node takes part in a further start. The nodes know it when the run is finished.
  bool canRestart() const { return !anyLost; }

  uint32_t index() const { return own; }
  /// The host of the meeting, at which rank 0 can be reached too.
  const std::string &meetingHost() const { return host; }

private:
  dpc_status_t gather(const NodeRecord &mine, const RunRecord &run);
  dpc_status_t receiveStart(const NodeRecord &mine, RunRecord *outRun);
  dpc_status_t check();
  dpc_status_t checkReady() const;
  std::string nameOf(uint32_t node) const;
  uint32_t guiltyNode(const char *text) const;
  bool handle(uint32_t from, const NodeMessage &message);
  void noticeSilence(double now);
  void lose(uint32_t node, const char *text);
  void decide(double now);

  uint32_t own = 0, count = 1;
  bool describes = false; ///< the launchers measure their hosts, and have no program
  std::string host;
  Digest token{};
  std::vector<NodeLink> links; ///< by node; on nodes but 0, only that to node 0
  std::vector<NodeRecord> records;
  std::vector<uint32_t> firstRanks; ///< of each node

  bool toldCause = false, toldSymptom = false;
  CauseFinder causes; ///< on node 0
  std::optional<NodeCause> decided;
  std::vector<bool> ended; ///< on node 0
  bool finished = false, anyLost = false;
  double silentSeconds = 0; ///< a node counts as cut off after this silence
  double aliveAt = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_NODES_H

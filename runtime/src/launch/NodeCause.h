#ifndef DPC_RUNTIME_SRC_LAUNCH_NODECAUSE_H
#define DPC_RUNTIME_SRC_LAUNCH_NODECAUSE_H

#include "dpc/status.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace dpc {

/// Why a run ends.
struct NodeCause {
  uint32_t node; ///< the node that failed
  dpc_status_t status;
  uint32_t isSymptom;   ///< the failure was noticed elsewhere: counts only if there is no cause
  uint32_t isAboutNode; ///< `text` goes on after the node's name, e.g. "cannot be reached"
  char text[1024];
};

/// The rank with which a message begins, as messages about ranks do; DPC_NONE if it begins with
/// none.
uint32_t guiltyRank(const char *text);

/// Chooses the cause of a run's failure from the messages of all nodes. The first cause counts. A
/// symptom counts if no cause comes within a second of the first symptom, because a cause may still
/// cross the network.
class CauseFinder {
public:
  /// `nodes` is the number of nodes, each of which sends at most one symptom.
  explicit CauseFinder(uint32_t nodes = 1) : nodes(nodes) {}

  /// `now` is in seconds.
  void add(const NodeCause &message, double now);
  bool hasSymptom() const { return !symptoms.empty(); }
  /// The cause; nothing if none is known yet. While `isSuspicious`, no symptom counts, for example
  /// because a node is silent that may be the cause.
  std::optional<NodeCause> find(double now, bool isSuspicious) const;

private:
  const NodeCause &mostFrequentSymptom() const;

  uint32_t nodes;
  std::optional<NodeCause> cause;  ///< the first one
  std::vector<NodeCause> symptoms; ///< in the order of their arrival
  double symptomAt = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_NODECAUSE_H

// When every task of a timeline happens.
//
// Plays tasks on streams whose order is fixed. With fixed orders the timeline
// is the longest path in the graph of dependencies and stream successions, so
// it is exact and takes linear time.

#ifndef DPC_PLANNING_EVENTSIMULATOR_H
#define DPC_PLANNING_EVENTSIMULATOR_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace dpc {

/// A task starts when its dependencies have ended (each `delayNs` ago: the
/// latency of the way) and it is the next of every stream it occupies.
struct SimTask {
  struct Dependency {
    int64_t task = 0;
    int64_t delayNs = 0;
  };
  int64_t durationNs = 0;
  llvm::SmallVector<Dependency, 4> dependencies;
};

/// Tasks run one after another, in this order. A task on several streams (a
/// collective of several ranks) starts when all of them have come to it.
struct SimStream {
  bool isCommunication = false;
  int64_t rank = 0;
  std::vector<int64_t> order; // task indices
};

/// What happens when.
struct Timeline {
  std::vector<int64_t> startNs; // by task
  std::vector<int64_t> endNs;   // by task
  int64_t makespanNs = 0;
  /// By task: of its time on a communication stream, the part during which no
  /// compute stream of that rank is busy (the largest over its ranks); 0 for
  /// tasks on compute streams alone.
  std::vector<int64_t> exposedNs;
  /// By rank: the time during which some communication stream is busy and no
  /// compute stream is. Less than the sum over tasks where they run together.
  std::vector<int64_t> exposedOfRankNs;
};

struct SimProblem {
  std::vector<SimTask> tasks;
  std::vector<SimStream> streams;

  /// Is the problem sound: every task on a stream and at most once on each,
  /// indices that exist, times not negative, sums that cannot overflow.
  /// Deadlocks are found by simulate().
  llvm::Error check() const;
};

/// Returns the timeline; fails where check() does, and where tasks wait for
/// each other in a circle (the message names them).
llvm::Expected<Timeline> simulate(const SimProblem &problem);

} // namespace dpc

#endif // DPC_PLANNING_EVENTSIMULATOR_H

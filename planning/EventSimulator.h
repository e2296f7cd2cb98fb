// Computes when every task of a timeline starts and ends.
//
// The order of the tasks on each stream is given. A task then starts at the end
// of the longest path to it in the graph of dependencies and stream orders, so
// the timeline is exact and takes linear time.

#ifndef DPC_PLANNING_EVENTSIMULATOR_H
#define DPC_PLANNING_EVENTSIMULATOR_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace dpc {

/// A task starts when it is the next task of every stream that it occupies, and
/// each of its dependencies ended at least `delayNs` ago (the latency of a link).
struct SimTask {
  struct Dependency {
    int64_t task = 0;
    int64_t delayNs = 0;
  };
  int64_t durationNs = 0;
  llvm::SmallVector<Dependency, 4> dependencies;
};

/// A stream runs its tasks one after another, in the given order. A task on
/// several streams, such as a collective of several ranks, starts when it is the
/// next task of all of them.
struct SimStream {
  bool isCommunication = false;
  int64_t rank = 0;
  std::vector<int64_t> order; // task indices
};

/// The result of a simulation: when each task starts and ends.
struct Timeline {
  std::vector<int64_t> startNs; // by task
  std::vector<int64_t> endNs;   // by task
  int64_t makespanNs = 0;
  /// By task: the part of its time on a communication stream during which no
  /// compute stream of the same rank is busy; the largest value over its ranks. 0
  /// for tasks that are only on compute streams.
  std::vector<int64_t> exposedNs;
  /// By rank: the time during which some communication stream is busy and no
  /// compute stream is. It is less than the sum of `exposedNs` if tasks overlap.
  std::vector<int64_t> exposedOfRankNs;
};

struct SimProblem {
  std::vector<SimTask> tasks;
  std::vector<SimStream> streams;

  /// Checks that every task is on a stream and at most once on each stream, that
  /// indices exist, that times are not negative, and that sums cannot overflow.
  /// simulate() finds deadlocks.
  llvm::Error check() const;
};

/// Returns the timeline. Fails if check() fails, or if tasks wait for each other
/// in a circle; the message then lists the tasks that never start.
llvm::Expected<Timeline> simulate(const SimProblem &problem);

} // namespace dpc

#endif // DPC_PLANNING_EVENTSIMULATOR_H

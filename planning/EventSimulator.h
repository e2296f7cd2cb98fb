// Computes when every task of a timeline starts and ends.
//
// The caller gives the order of the tasks on each stream. The simulator builds a
// graph whose edges are the dependencies and the stream orders. The start time of
// a task is the length of the longest path to the task. One walk over the graph
// therefore computes the exact timeline in linear time.

#ifndef DPC_PLANNING_EVENTSIMULATOR_H
#define DPC_PLANNING_EVENTSIMULATOR_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace dpc {

/// A task starts when it is the next task of every stream that it occupies, and
/// when each of its dependencies ended at least `delayNs` ago (e.g. the latency
/// of a link).
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
  /// By task: how long the task runs on a communication stream while no compute
  /// stream of the same rank is busy. A task on streams of several ranks has the
  /// largest value of these ranks. 0 for tasks that are only on compute streams.
  std::vector<int64_t> exposedNs;
  /// By rank: how long at least one communication stream is busy while no compute
  /// stream is busy. If communication tasks overlap, this may be less than the sum of their
  /// `exposedNs`.
  std::vector<int64_t> exposedOfRankNs;
};

struct SimProblem {
  std::vector<SimTask> tasks;
  std::vector<SimStream> streams;

  /// Checks that every task is on at least one stream and at most once on each
  /// stream, that every index is in range, that no time is negative, and that
  /// sums of times cannot overflow. Does not look for deadlocks: simulate() finds
  /// them.
  llvm::Error check() const;
};

/// Returns the timeline. Fails if check() fails. Also fails if tasks wait for
/// each other in a cycle; the message then lists the tasks that never start.
llvm::Expected<Timeline> simulate(const SimProblem &problem);

} // namespace dpc

#endif // DPC_PLANNING_EVENTSIMULATOR_H

// Where collectives start and are waited for.
//
// The order of one rank's compute stream, with the starts of collectives and
// the waits for them among its tasks. A collective starts as early as its
// inputs, the fixed order of its device group and the in-flight cap allow, and
// is waited for just before its first use.
//
// Of the answer, dpc-order-computation takes the order alone: waits are placed
// by dpc-delay-waits. It gives all collectives to one group and sets no cap.

#ifndef DPC_PASSES_OVERLAP_STREAMSCHEDULE_H
#define DPC_PASSES_OVERLAP_STREAMSCHEDULE_H

#include "planning/EventSimulator.h"
#include <limits>

namespace dpc {

/// A kernel on the compute stream, or a collective on its group's stream.
struct ScheduleTask {
  int64_t durationNs = 0;
  /// Index into ScheduleProblem::groupOrder, -1 for a kernel.
  int64_t group = -1;
  /// Bytes that nobody may touch while the collective is in flight, that is,
  /// from its start to the wait for it.
  int64_t bytesInFlight = 0;
  llvm::SmallVector<int64_t, 4> dependencies;
  /// Whether what this kernel reads can be let go behind it, as with a kernel whose result
  /// no task waits for.
  bool frees = false;

  bool isCollective() const { return group >= 0; }
};

struct ScheduleProblem {
  std::vector<ScheduleTask> tasks;
  /// Of each device group, its collectives in the order on which its members
  /// have agreed. Never changed.
  std::vector<std::vector<int64_t>> groupOrder;
  int64_t inFlightCap = std::numeric_limits<int64_t>::max();
  /// The order of the kernels, where the caller has fixed it (for the sake of
  /// memory, say); empty: the scheduler chooses.
  std::vector<int64_t> computeOrder;

  /// Is the problem sound: indices that exist, every collective once in its
  /// group's order, no collective above the cap, no circle in dependencies and
  /// orders together. Every sound problem has an answer: to wait at once.
  llvm::Error check() const;
};

/// One step of the compute stream.
struct ScheduleStep {
  enum Kind { compute, start, wait };
  Kind kind;
  int64_t task;

  bool operator==(const ScheduleStep &other) const {
    return kind == other.kind && task == other.task;
  }
};

struct StreamSchedule {
  std::vector<ScheduleStep> steps;
  int64_t makespanNs = 0;
  /// By task; see Timeline::exposedNs.
  std::vector<int64_t> exposedNs;
  /// Time with communication and without compute.
  int64_t totalExposedNs = 0;
  int64_t peakInFlightBytes = 0;

  /// Is the answer sound for `problem`: each kernel once, one start and then
  /// one wait a collective, everything after what it depends on (a collective
  /// counts from its wait), the orders kept, the cap respected, the recorded
  /// peak and makespan true.
  llvm::Error verify(const ScheduleProblem &problem) const;
};

/// Returns the events of `steps`: the tasks of `problem` under their indices,
/// then one task of 0 ns a start or wait. Stream 0 is the compute stream,
/// stream 1 + g that of group g.
SimProblem makeSimProblem(const ScheduleProblem &problem, llvm::ArrayRef<ScheduleStep> steps);

/// List scheduling over the simulated timeline under several priorities, of
/// which the shortest makespan wins. Fails only where `problem.check()` does.
llvm::Expected<StreamSchedule> scheduleStreams(const ScheduleProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_OVERLAP_STREAMSCHEDULE_H

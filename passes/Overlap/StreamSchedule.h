// Decides where collectives start and where the compute stream waits for them.
//
// The answer is the order of one rank's compute stream: its kernels, and among them the starts
// and waits of collectives. A collective starts as early as three conditions allow: its inputs
// exist, the collectives before it in the fixed order of its device group have started, and the
// bytes in flight stay under a cap. The wait is placed just before the first use of the result, or
// earlier if a new collective would not fit under the cap.
//
// dpc-order-computation uses only the order of kernels and starts from the answer, since
// dpc-delay-waits places the waits. dpc-order-computation puts all collectives in one group and
// sets no cap.

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
  /// The bytes of a collective's buffers. No kernel may use these buffers while the collective is
  /// in flight, that is, from its start to its wait.
  int64_t bytesInFlight = 0;
  llvm::SmallVector<int64_t, 4> dependencies;
  /// Whether the operands of this kernel can be freed after it has run. The scheduler prefers to
  /// place such a kernel directly after its operands. It treats kernels whose result no task needs
  /// in the same way.
  bool frees = false;

  bool isCollective() const { return group >= 0; }
};

struct ScheduleProblem {
  std::vector<ScheduleTask> tasks;
  /// By device group: its collectives, in the order that all members of the group use. The
  /// scheduler never changes this order, because ranks that differed in it would deadlock.
  std::vector<std::vector<int64_t>> groupOrder;
  int64_t inFlightCap = std::numeric_limits<int64_t>::max();
  /// The order of the kernels if the caller fixes it (to save memory, say). If empty, the
  /// scheduler chooses the order.
  std::vector<int64_t> computeOrder;

  /// Checks that all indices exist, that each collective is in the order of its group once,
  /// that no collective exceeds the cap, and that dependencies and orders together have no
  /// cycle. Every sound problem has an answer: wait for each collective directly after its start.
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
  /// The time in which at least one collective runs and no kernel does, in ns.
  int64_t totalExposedNs = 0;
  int64_t peakInFlightBytes = 0;

  /// Checks that the answer is sound for `problem`. Each kernel runs once. Each collective has
  /// one start and then one wait. Each task follows its dependencies (a collective is complete
  /// at its wait). The orders and the cap hold. The recorded peak and makespan are correct.
  llvm::Error verify(const ScheduleProblem &problem) const;
};

/// Returns `steps` as a problem for the event simulator: first the tasks of `problem` under
/// their indices, then one task of 0 ns for each start and each wait. Stream 0 is the compute
/// stream, and stream 1 + g is the stream of group g.
SimProblem makeSimProblem(const ScheduleProblem &problem, llvm::ArrayRef<ScheduleStep> steps);

/// Runs list scheduling over the simulated timeline with several priorities, and returns the
/// schedule with the shortest makespan. Prefers a schedule that frees memory early if it is at
/// most half a percent longer. Fails only if `problem.check()` fails.
llvm::Expected<StreamSchedule> scheduleStreams(const ScheduleProblem &problem);

} // namespace dpc

#endif // DPC_PASSES_OVERLAP_STREAMSCHEDULE_H

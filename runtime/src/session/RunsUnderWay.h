#ifndef DPC_RUNTIME_SRC_SESSION_RUNSUNDERWAY_H
#define DPC_RUNTIME_SRC_SESSION_RUNSUNDERWAY_H

#include "runtime/src/program/Executor.h"

#include <vector>

namespace dpc {

/// The runs of entries that this rank has enqueued and not completed, the oldest first. With a
/// depth of 1, a run is completed before the next one is enqueued. With a depth of 2, the device
/// already has the next run when the host reads the metrics of a run.
///
/// Each run has host copies of its metrics, which the device writes at the end of the run. So a
/// later run may overwrite the metrics on the device. The copies of a run are read after its
/// completion, and are written again by the run that is enqueued `depth` runs later.
class RunsUnderWay {
public:
  RunsUnderWay(const dpc_program_t &program, uint32_t rank, Queue &queue, Executor &executor)
      : program(program), rank(rank), queue(queue), executor(executor) {}

  /// Allocates the copies of metrics. The depth is that of the queue.
  dpc_status_t open();
  uint32_t getDepth() const { return queue.getDepth(); }

  uint32_t count() const { return static_cast<uint32_t>(submitted - completed); }
  /// How many of the runs are training steps.
  uint32_t stepCount() const;

  /// Enqueues a run. Fewer than getDepth() runs may be under way.
  dpc_status_t submit(uint32_t entry, const Controls &controls);
  /// Waits for the oldest run, and removes it. Returns a copy of it in `*out`.
  dpc_status_t complete(Executor::Run *out);
  /// The value of a metric after the run that was completed last. The metric must be one that the
  /// run computes and that this rank holds.
  dpc_status_t readMetric(uint32_t metric, double *out) const;

private:
  static constexpr uint64_t kBytes = 8; ///< of the largest metric

  char *copyOf(uint64_t run, uint32_t metric) const {
    return copies + (run % getDepth() * program.metric_count + metric) * kBytes;
  }

  const dpc_program_t &program;
  const uint32_t rank;
  Queue &queue;
  Executor &executor;
  std::vector<Executor::Run> runs; ///< the run r is at r modulo the depth
  std::vector<Fetch> fetches;
  char *copies = nullptr; ///< [depth][metric_count] values of kBytes
  uint64_t submitted = 0, completed = 0;
};

/// Whether this rank holds the value of a metric after a run of `entry`.
bool holdsMetric(const dpc_metric_t &metric, uint32_t entry, uint32_t rank);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_RUNSUNDERWAY_H

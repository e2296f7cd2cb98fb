#ifndef DPC_RUNTIME_SRC_PROGRAM_EXECUTOR_H
#define DPC_RUNTIME_SRC_PROGRAM_EXECUTOR_H

#include "dpc/program.h"
#include "runtime/src/data/InputLoader.h"
#include "runtime/src/data/Prefetcher.h"
#include "runtime/src/device/Operations.h"
#include "runtime/src/device/Queue.h"
#include "runtime/src/program/Controls.h"
#include "runtime/src/program/GradientCheck.h"
#include "runtime/src/program/ProgramCheck.h"
#include "runtime/src/trace/Trace.h"

#include <vector>

namespace dpc {

/// Runs action tables: iterates their loops and passes their actions to the
/// rank's queue. The program must have passed checkProgram.
class Executor {
public:
  Executor(const dpc_program_t &program, uint32_t rank, Queue &queue, InputLoader &loader,
           const Controls &controls, Trace &trace);

  /// A run of an entry that is under way.
  struct Run {
    uint32_t entry = 0;
    Controls controls;
    uint64_t number = 0;                     ///< in the queue
    uint64_t firstRecord = 0, endRecord = 0; ///< its operations in the recorder
  };

  /// Uploads controls and inputs, and enqueues the actions of `entry` once. `complete` must be
  /// called for the run; at most getDepth() runs of the queue may be under way. If an action that
  /// has a location fails, the message names the ONNX nodes of this location. `fetches` are
  /// complete after `complete`.
  dpc_status_t submit(uint32_t entry, const Controls &controls, const std::vector<Fetch> &fetches,
                      Run *out);
  /// Returns when a run is done. Runs are completed in their order.
  dpc_status_t complete(const Run &run);
  /// Runs the actions of `entry` once, with the controls of the constructor.
  dpc_status_t run(uint32_t entry);

  /// If not null, inputs come from the prefetcher and not from the loader: the
  /// executor takes the prefetcher's current batch and lets it read the next one. A prefetcher with
  /// several slots has memory of the queue.
  Prefetcher *prefetcher = nullptr;
  /// If not null, records the communication.
  dpc_recorder *recorder = nullptr;
  /// If not null, looks at the gradients of each step.
  GradientCheck *gradients = nullptr;

private:
  /// A communication between start and wait, for the trace and the recorder.
  struct Event {
    const dpc_action_t *start = nullptr;
    int64_t startNs = 0;
    uint32_t micro = 0;
    uint64_t number = 0; ///< in the recorder
  };

  dpc_status_t uploadInputs();
  dpc_status_t readAhead(uint64_t run);
  dpc_status_t runActions(const dpc_actions_t &table);
  void recordRepeated(const dpc_actions_t &table);
  dpc_status_t perform(const dpc_action_t &action, uint64_t index);
  dpc_status_t compute(const dpc_action_t &action);
  dpc_status_t start(const dpc_action_t &action, uint64_t index);
  dpc_status_t wait(const dpc_action_t &action);
  DeviceAddress addressOf(const dpc_buffer_t &buffer, uint32_t family) const {
    return placeOf(buffer, family, groupIndex);
  }
  dpc_status_t explain(dpc_status_t status, const dpc_action_t &action) const;

  const dpc_program_t &program;
  const uint32_t rank;
  Queue &queue;
  InputLoader &loader;
  const Controls &given;
  Controls controls; ///< of the run that is being enqueued
  Trace &trace;
  std::vector<uint32_t> groupIndex; ///< this rank's index in its group of each family
  std::vector<Event> events;
  /// For each input, the values of one microbatch from the loader. The padding
  /// stays zero.
  std::vector<std::vector<char>> staging;
  std::vector<uint64_t> readers; ///< by slot of the prefetcher: 1 + the run that uploads from it
  uint32_t entry = 0;            ///< the entry that is being enqueued
  uint32_t micro = 0;            ///< microbatch of the current action
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_EXECUTOR_H

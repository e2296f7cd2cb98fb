#ifndef DPC_RUNTIME_SRC_PROGRAM_EXECUTOR_H
#define DPC_RUNTIME_SRC_PROGRAM_EXECUTOR_H

#include "dpc/comm.h"
#include "dpc/program.h"
#include "runtime/src/data/InputLoader.h"
#include "runtime/src/data/Prefetcher.h"
#include "runtime/src/program/ProgramCheck.h"
#include "runtime/src/program/RankMemory.h"
#include "runtime/src/trace/Trace.h"

#include <vector>

namespace dpc {

/// Runs action tables: the only way into generated code. The program has passed
/// checkProgram; nothing is allocated after construction.
class Executor {
public:
  Executor(const dpc_program_t &program, dpc_comm_t &comm, RankMemory &memory,
           InputLoader &loader, dpc_control_t &control, Trace &trace);

  /// Fills preloaded inputs and runs the table of `entry` once. Failures name
  /// the ONNX node.
  dpc_status_t run(uint32_t entry);

  /// Where preloaded inputs come from, instead of the loader: its present batch
  /// is taken, then its next one begins. Null: the loader.
  Prefetcher *prefetcher = nullptr;

private:
  struct Event {
    dpc_request_t request = 0;
    const dpc_action_t *start = nullptr;
    int64_t startNs = 0;
    uint32_t micro = 0;
  };

  dpc_status_t preload();
  dpc_status_t perform(const dpc_action_t &action);
  dpc_status_t start(const dpc_action_t &action);
  dpc_status_t wait(const dpc_action_t &action);
  void enterMicro(uint32_t micro);
  char *address(const dpc_buffer_t &buffer, uint32_t family) const;
  dpc_status_t explain(dpc_status_t status, const dpc_action_t &action) const;
  Event &event(const dpc_action_t &action) {
    return events[action.event +
                  (action.flags & DPC_ACTION_EVENT_PER_SLOT ? call.slot : 0)];
  }

  const dpc_program_t &program;
  const dpc_rank_t &rank;
  dpc_comm_t &comm;
  RankMemory &memory;
  InputLoader &loader;
  dpc_control_t &control;
  Trace &trace;
  dpc_call_t call{};
  std::vector<uint32_t> coordinates;
  std::vector<uint32_t>
      groupIndex; ///< this rank's index in its group of each family
  std::vector<Event> events;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_EXECUTOR_H

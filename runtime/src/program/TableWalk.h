#ifndef DPC_RUNTIME_SRC_PROGRAM_TABLEWALK_H
#define DPC_RUNTIME_SRC_PROGRAM_TABLEWALK_H

#include "dpc/program.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/program/ProgramCheck.h"

namespace dpc {

/// Calls visit(index, micro) for each action except LOOP_BEGIN and LOOP_END, in
/// the order in which a rank performs the actions. An action in a loop is visited
/// once per iteration. `index` is the position of the action in the table, and
/// `micro` its microbatch. Stops at the first call that returns a status other
/// than DPC_OK, and returns that status. Fails with DPC_INVALID after
/// `mostActions` performed actions. Here LOOP_BEGIN and LOOP_END count too. The
/// table must have passed checkTables.
template <typename Visit>
dpc_status_t walkTable(const dpc_actions_t &table, Visit visit, uint64_t mostActions = UINT64_MAX) {
  struct Loop {
    uint64_t iteration, count;
  };
  Loop loops[kMaxLoopDepth];
  uint32_t depth = 0;
  uint64_t steps = 0;
  for (uint64_t at = 0; at < table.count; ++at) {
    const dpc_action_t &action = table.actions[at];
    if (++steps > mostActions)
      return fail(DPC_INVALID, "action %llu: loops that have more than %llu actions",
                  static_cast<unsigned long long>(at),
                  static_cast<unsigned long long>(mostActions));
    if (action.kind == DPC_ACTION_LOOP_BEGIN) {
      if (action.count == 0)
        at = action.jump;
      else
        loops[depth++] = {0, action.count};
      continue;
    }
    if (action.kind == DPC_ACTION_LOOP_END) {
      if (++loops[depth - 1].iteration < loops[depth - 1].count)
        at = action.jump;
      else
        --depth;
      continue;
    }
    const bool relative = (action.flags & DPC_ACTION_MICRO_RELATIVE) && depth;
    const uint64_t iteration = relative ? loops[depth - 1].iteration : 0;
    const auto micro = static_cast<uint32_t>(action.micro + static_cast<int64_t>(iteration));
    if (dpc_status_t status = visit(at, micro))
      return status;
  }
  return DPC_OK;
}

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_TABLEWALK_H

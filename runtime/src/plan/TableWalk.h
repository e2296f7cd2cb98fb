#ifndef DPC_RUNTIME_SRC_PLAN_TABLEWALK_H
#define DPC_RUNTIME_SRC_PLAN_TABLEWALK_H

#include "dpc/program.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/program/ProgramCheck.h"

namespace dpc::plan {

/// Most actions that a proof performs in one table. Only a faulty table has
/// more.
constexpr uint64_t kMostActions = uint64_t(1) << 26;

/// Calls visit(index, micro) for each action of a table except loop actions, in
/// the order in which the Executor performs them. Stops at the first call that
/// returns a status other than DPC_OK, and returns that status. The table must
/// have passed checkTables.
template <typename Visit> dpc_status_t walkTable(const dpc_actions_t &table, Visit visit) {
  struct Loop {
    uint64_t iteration, count;
  };
  Loop loops[kMaxLoopDepth];
  uint32_t depth = 0;
  uint64_t steps = 0;
  for (uint64_t at = 0; at < table.count; ++at) {
    const dpc_action_t &action = table.actions[at];
    if (++steps > kMostActions)
      return fail(DPC_INVALID, "action %llu: loops that have more than %llu actions",
                  static_cast<unsigned long long>(at),
                  static_cast<unsigned long long>(kMostActions));
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
    // The same arithmetic as in the Executor.
    const auto micro = static_cast<uint32_t>(action.micro + static_cast<int64_t>(iteration));
    if (dpc_status_t status = visit(at, micro))
      return status;
  }
  return DPC_OK;
}

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_TABLEWALK_H

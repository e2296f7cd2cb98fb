#ifndef DPC_RUNTIME_SRC_PLAN_MEMORYPLAY_H
#define DPC_RUNTIME_SRC_PLAN_MEMORYPLAY_H

#include "runtime/src/plan/BufferCheck.h"
#include "runtime/src/plan/GroupPlaces.h"

#include <utility>
#include <vector>

namespace dpc::plan {

/// The proof stops after this many performed actions of one table. Here the actions
/// that begin and end loops count too. Only a faulty table has more.
constexpr uint64_t kMostActions = uint64_t(1) << 26;

/// The results of simulating an action table on one rank.
struct Played {
  uint64_t actions = 0; ///< performed actions; an action in a loop counts once per iteration
  /// For each START, in order: the bytes [begin, end) of its input that were written
  /// before, counted from the first byte of the input.
  std::vector<std::vector<std::pair<uint64_t, uint64_t>>> sent;
};

/// Simulates the action table of one entry on one rank, and tracks every byte of the
/// rank's memory (rules 3 to 5 of checkPlan). The record must have passed
/// checkTables and checkBuffers; `results` is the output of checkBuffers.
dpc_status_t playMemory(const dpc_program_t &program, uint32_t rank, uint32_t entry,
                        const GroupPlaces &places, const std::vector<Result> &results, Played *out);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_MEMORYPLAY_H

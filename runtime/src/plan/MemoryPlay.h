#ifndef DPC_RUNTIME_SRC_PLAN_MEMORYPLAY_H
#define DPC_RUNTIME_SRC_PLAN_MEMORYPLAY_H

#include "runtime/src/plan/BufferCheck.h"
#include "runtime/src/plan/GroupPlaces.h"

#include <utility>
#include <vector>

namespace dpc::plan {

/// What was found when a table was played.
struct Played {
  uint64_t actions = 0; ///< each turn of a loop counted
  /// Of each start, in their order: which bytes [begin, end) of the input have
  /// been written, from the input's first byte on.
  std::vector<std::vector<std::pair<uint64_t, uint64_t>>> sent;
};

/// Plays the table of one entry on one rank byte by byte: rules 3 to 5 of
/// checkPlan. The record has passed checkTables and checkBuffers, which gave
/// `results`.
dpc_status_t playMemory(const dpc_program_t &program, uint32_t rank, uint32_t entry,
                        const GroupPlaces &places, const std::vector<Result> &results, Played *out);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_MEMORYPLAY_H

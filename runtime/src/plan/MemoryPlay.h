#ifndef DPC_RUNTIME_SRC_PLAN_MEMORYPLAY_H
#define DPC_RUNTIME_SRC_PLAN_MEMORYPLAY_H

#include "runtime/src/plan/BufferCheck.h"
#include "runtime/src/plan/GroupPlaces.h"

#include <utility>
#include <vector>

namespace dpc::plan {

/// Most actions that a proof performs in one table, those of loops included. Only
/// a faulty table has more.
constexpr uint64_t kMostActions = uint64_t(1) << 26;

/// The results of playing a table.
struct Played {
  uint64_t actions = 0; ///< performed actions; those in a loop count once per iteration
  /// For each start, in order: the bytes [begin, end) of its input that have
  /// been written, relative to the input's first byte.
  std::vector<std::vector<std::pair<uint64_t, uint64_t>>> sent;
};

/// Plays the table of one entry on one rank byte by byte: rules 3 to 5 of
/// checkPlan. The record must have passed checkTables and checkBuffers, whose
/// output is `results`.
dpc_status_t playMemory(const dpc_program_t &program, uint32_t rank, uint32_t entry,
                        const GroupPlaces &places, const std::vector<Result> &results, Played *out);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_MEMORYPLAY_H

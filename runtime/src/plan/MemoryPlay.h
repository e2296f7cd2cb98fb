#ifndef DPC_RUNTIME_SRC_PLAN_MEMORYPLAY_H
#define DPC_RUNTIME_SRC_PLAN_MEMORYPLAY_H

#include "runtime/src/plan/BufferCheck.h"
#include "runtime/src/plan/GroupPlaces.h"

namespace dpc::plan {

/// Plays the table of one entry on one rank byte by byte: rules 3 to 5 of
/// checkPlan. The record has passed checkTables and checkBuffers, which gave
/// `results`. Counts the actions played in `outActions`.
dpc_status_t playMemory(const dpc_program_t &program, uint32_t rank, uint32_t entry,
                        const GroupPlaces &places, const std::vector<Result> &results,
                        uint64_t *outActions);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_MEMORYPLAY_H

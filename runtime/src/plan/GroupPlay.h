#ifndef DPC_RUNTIME_SRC_PLAN_GROUPPLAY_H
#define DPC_RUNTIME_SRC_PLAN_GROUPPLAY_H

#include "runtime/src/plan/MemoryPlay.h"

namespace dpc::plan {

/// Plays the communication of all ranks in one entry against each other: rule 6
/// of checkPlan. Each rank's table must have passed playMemory, whose results
/// are `played`. Adds the number of starts to `outStarted`.
dpc_status_t playGroups(const dpc_program_t &program, uint32_t entry, const GroupPlaces &places,
                        const std::vector<const Played *> &played, uint64_t *outStarted);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_GROUPPLAY_H

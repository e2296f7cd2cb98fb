#ifndef DPC_RUNTIME_SRC_PLAN_GROUPPLAY_H
#define DPC_RUNTIME_SRC_PLAN_GROUPPLAY_H

#include "runtime/src/plan/MemoryPlay.h"

namespace dpc::plan {

/// Simulates the communication of all ranks in one entry together (rule 6 of
/// checkPlan). Each rank's table must have passed playMemory; `played` has the results
/// of playMemory, indexed by rank. Adds the number of START actions to `outStarted`.
dpc_status_t playGroups(const dpc_program_t &program, uint32_t entry, const GroupPlaces &places,
                        const std::vector<const Played *> &played, uint64_t *outStarted);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_GROUPPLAY_H

#ifndef DPC_RUNTIME_SRC_PLAN_PLANCHECK_H
#define DPC_RUNTIME_SRC_PLAN_PLANCHECK_H

#include "dpc/program.h"
#include "dpc/status.h"

#include <string>

namespace dpc {

/// The extent of a proof, for reports.
struct PlanSummary {
  uint32_t ranks = 0;
  uint64_t actions = 0;        ///< of all ranks; those in a loop count once per iteration
  uint64_t communications = 0; ///< operations started by all ranks
  uint64_t buffers = 0;        ///< logical buffers of all ranks
};

/// The summary as text: "plan of 2 ranks: OK, 36 actions, 10 communications,
/// 348 buffers".
std::string describePlan(const PlanSummary &summary);

/// Proves the plan of a program on its record, without running it: plays the
/// action tables of all ranks against each other. The rules are:
///
/// 1. Tables: checkTables accepts them for every rank. Launches of a device
///    touch only bytes that the accesses of their function list.
/// 2. Buffers: each lies in its space. Buffers that the host fills or reads
///    overlap no other buffer, and lie where the records of state, inputs,
///    controls, outputs and metrics say.
/// 3. Functions: an entry runs each function of its stage as often as the
///    function table says, for microbatches in ascending order, and no other
///    functions.
/// 4. Memory: every byte that is read was written under the name of the same
///    buffer. Between the start and the wait of a communication, no action
///    writes its input or touches its output. No kernel overwrites bytes that it
///    still reads. No sum is zeroed before it is read. At the end of an entry,
///    the values that the host reads have been written.
/// 5. Waits: each start has exactly one wait.
/// 6. Communication: the members of each group, and each two ranks, start the
///    same operations in the same order. No rank waits for ever, with at most
///    64 outstanding operations of a group.
///
/// DPC_INVALID, with a message that names rank, entry, action and buffer, and
/// both of the differing values.
dpc_status_t checkPlan(const dpc_program_t &program, PlanSummary *outSummary = nullptr);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PLAN_PLANCHECK_H

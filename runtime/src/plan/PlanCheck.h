#ifndef DPC_RUNTIME_SRC_PLAN_PLANCHECK_H
#define DPC_RUNTIME_SRC_PLAN_PLANCHECK_H

#include "dpc/program.h"
#include "dpc/status.h"

#include <string>

namespace dpc {

/// What a proof has checked, for reports.
struct PlanSummary {
  uint32_t ranks = 0;
  uint64_t actions = 0;        ///< of all ranks; an action in a loop counts once per iteration
  uint64_t communications = 0; ///< number of STARTs of all ranks
  uint64_t buffers = 0;        ///< logical buffers of all ranks
};

/// The summary as text: "plan of 2 ranks: OK, 36 actions, 10 communications,
/// 348 buffers".
std::string describePlan(const PlanSummary &summary);

/// Proves the plan of a program on its record, without running the program: steps
/// through the action tables of all ranks together. The rules are:
///
/// 1. Tables: checkTables accepts the tables of every rank. Launches of a device
///    read and write only bytes that their function lists as accesses.
/// 2. Buffers: each logical buffer lies in its space. A buffer that the host fills
///    or reads does not overlap another buffer. It has the place that the records of
///    state, inputs, controls, outputs and metrics give.
/// 3. Functions: on each rank, an entry runs those of its functions that are in the
///    rank's stage, each as often as the function table says, for microbatches in
///    ascending order. It runs no other functions.
/// 4. Memory: if an action reads a byte as part of a logical buffer, the latest write
///    to this byte was to the same logical buffer. Between the START and the WAIT of a
///    communication, no action writes its input, and no action reads or writes its
///    output. The result of a kernel does not partly overlap an operand. No sum is
///    zeroed before it is read. If a sum in a temporary buffer is read, it is read after
///    its last term was added. All calls of a function get
///    the same part of a buffer as the same frame. At the end of an entry, the values
///    that the host reads have been written.
/// 5. Waits: each START has exactly one WAIT.
/// 6. Communication: the members of each group start the same collectives in the same
///    order. For messages between two ranks, the order of the RECVs is the order of the
///    SENDs, and each byte of a message was written. No rank waits for ever, even though
///    a group may have at most 64 outstanding operations.
///
/// If a rule does not hold, returns DPC_INVALID. The message says where: it names the
/// rank, the entry, the action and the buffer, as far as the rule concerns them. If two
/// values differ, it has both.
dpc_status_t checkPlan(const dpc_program_t &program, PlanSummary *outSummary = nullptr);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PLAN_PLANCHECK_H

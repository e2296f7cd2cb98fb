#ifndef DPC_RUNTIME_SRC_PLAN_PLANCHECK_H
#define DPC_RUNTIME_SRC_PLAN_PLANCHECK_H

#include "dpc/program.h"
#include "dpc/status.h"

#include <string>

namespace dpc {

/// How much a proof went through, for reports.
struct PlanSummary {
  uint32_t ranks = 0;
  uint64_t actions = 0;        ///< of all ranks, each turn of a loop counted
  uint64_t communications = 0; ///< started by all ranks
  uint64_t buffers = 0;        ///< logical ones, of all ranks
};

/// "plan of 2 ranks: OK, 36 actions, 10 communications, 348 buffers".
std::string describePlan(const PlanSummary &summary);

/// Proves the plan of a program on its record, without running it, by playing
/// the action tables of all ranks against each other:
///
/// 1. Tables: what checkTables says, for every rank; what a device launches uses
///    no bytes but those that its function names.
/// 2. Buffers: each lies in its space. Those that the host fills or reads
///    overlap no others, and lie where the records of state, inputs, controls,
///    outputs and metrics say.
/// 3. Functions: an entry runs each of its stage's functions as often as the
///    function table says, for its microbatches in order, and no others.
/// 4. Memory: what is read was written under its name; nothing in flight is
///    touched; no kernel writes over what it still reads; no sum that nobody
///    has read is zeroed; what the host reads has been written at the end.
/// 5. Waits: each start has one wait.
/// 6. Communication: in each group and between each two ranks all start the
///    same operations in the same order; no rank waits for ever, with at most
///    64 operations of a group under way.
///
/// DPC_INVALID names rank, entry, action and buffer, with both values.
dpc_status_t checkPlan(const dpc_program_t &program, PlanSummary *outSummary = nullptr);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PLAN_PLANCHECK_H

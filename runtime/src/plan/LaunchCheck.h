#ifndef DPC_RUNTIME_SRC_PLAN_LAUNCHCHECK_H
#define DPC_RUNTIME_SRC_PLAN_LAUNCHCHECK_H

#include "dpc/program.h"
#include "dpc/status.h"

namespace dpc::plan {

/// Checks, of a program for a device, that launches use no bytes but those that
/// the accesses of their function name: a copy or a number written as those
/// say, a kernel either way. Host code is not looked into. The record has
/// passed checkTables.
dpc_status_t checkLaunches(const dpc_program_t &program);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_LAUNCHCHECK_H

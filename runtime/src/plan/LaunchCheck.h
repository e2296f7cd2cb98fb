#ifndef DPC_RUNTIME_SRC_PLAN_LAUNCHCHECK_H
#define DPC_RUNTIME_SRC_PLAN_LAUNCHCHECK_H

#include "dpc/program.h"
#include "dpc/status.h"

namespace dpc::plan {

/// Checks, for a program for a device, that launches touch only bytes that the
/// accesses of their function list. A copy or a FILL must be listed with its
/// direction, a buffer of a kernel with any. Host code is not examined. The
/// record must have passed checkTables.
dpc_status_t checkLaunches(const dpc_program_t &program);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_LAUNCHCHECK_H

#ifndef DPC_RUNTIME_SRC_PLAN_LAUNCHCHECK_H
#define DPC_RUNTIME_SRC_PLAN_LAUNCHCHECK_H

#include "dpc/program.h"
#include "dpc/status.h"

namespace dpc::plan {

/// Checks, in a program for a device, that launches read and write only bytes that
/// their function lists as accesses. For a COPY or a FILL, the access must also say
/// whether the launch reads or writes the bytes. For a kernel, the kind of access does
/// not matter, because the launch does not tell what the kernel does. Functions of
/// host code are not checked. The record must have passed checkTables.
dpc_status_t checkLaunches(const dpc_program_t &program);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_LAUNCHCHECK_H

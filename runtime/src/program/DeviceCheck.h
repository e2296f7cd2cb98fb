#ifndef DPC_RUNTIME_SRC_PROGRAM_DEVICECHECK_H
#define DPC_RUNTIME_SRC_PROGRAM_DEVICECHECK_H

#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/program/Spaces.h"

namespace dpc {

/// Checks one rank's view of the launches of a program for a device. Every
/// index must be inside its table, and every parameter inside its space, in all
/// microbatches for which the rank's actions compute. The action tables must
/// have been checked.
dpc_status_t checkDevice(const dpc_program_t &program, uint32_t rank, const Spaces &spaces);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_DEVICECHECK_H

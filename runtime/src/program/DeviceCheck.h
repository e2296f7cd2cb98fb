#ifndef DPC_RUNTIME_SRC_PROGRAM_DEVICECHECK_H
#define DPC_RUNTIME_SRC_PROGRAM_DEVICECHECK_H

#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/program/Spaces.h"

namespace dpc {

/// Checks the launches of a program for a device, for one rank. Every index must
/// be inside its table. Every parameter must be inside its space, for each
/// microbatch that the rank's actions compute. The caller must have checked the
/// action tables before.
dpc_status_t checkDevice(const dpc_program_t &program, uint32_t rank, const Spaces &spaces);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_DEVICECHECK_H

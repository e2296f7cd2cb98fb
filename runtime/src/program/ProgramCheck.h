#ifndef DPC_RUNTIME_SRC_PROGRAM_PROGRAMCHECK_H
#define DPC_RUNTIME_SRC_PROGRAM_PROGRAMCHECK_H

#include "dpc/program.h"
#include "dpc/status.h"

namespace dpc {

/// Deepest nesting of loops in an action table.
constexpr uint32_t kMaxLoopDepth = 4;

/// Checks the parts of a program that one rank uses: the ABI, the instruction
/// set, and the rank's action tables and records. Every jump, and every table
/// index that the runtime uses, must be inside its table. Every buffer must be
/// inside its space. Returns DPC_INVALID with a message that names the first
/// fault.
dpc_status_t checkProgram(const dpc_program_t &program, uint32_t rank);

/// Checks everything that checkProgram checks except the instruction set, because
/// the program need not run on this machine.
dpc_status_t checkTables(const dpc_program_t &program, uint32_t rank);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_PROGRAMCHECK_H

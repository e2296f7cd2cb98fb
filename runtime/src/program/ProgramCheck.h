#ifndef DPC_RUNTIME_SRC_PROGRAM_PROGRAMCHECK_H
#define DPC_RUNTIME_SRC_PROGRAM_PROGRAMCHECK_H

#include "dpc/program.h"
#include "dpc/status.h"

namespace dpc {

/// Deepest nesting of loops in an action table.
constexpr uint32_t kMaxLoopDepth = 4;

/// Checks one rank's view of a program: the ABI, the instruction set, and that
/// every index, jump and buffer of its action tables and records is inside its
/// table or space. DPC_INVALID with a message that names the first fault.
dpc_status_t checkProgram(const dpc_program_t &program, uint32_t rank);

/// The same without the instruction set, for a program that need not run on
/// this machine.
dpc_status_t checkTables(const dpc_program_t &program, uint32_t rank);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_PROGRAMCHECK_H

#ifndef DPC_RUNTIME_SRC_SESSION_PLANNEDHOSTS_H
#define DPC_RUNTIME_SRC_SESSION_PLANNEDHOSTS_H

#include "dpc/program.h"

#include <string>

namespace dpc {

/// Compares the hosts of a run, which are `hosts` of dpc_comm_t, with the levels of the machine for
/// which the program was planned. A host is a unit of any level, except for the outermost of
/// several levels, which connects hosts. Rank r is device r, so the ranks of a host have
/// consecutive numbers. Returns a sentence if the hosts differ from the units of every such level.
/// Otherwise, and if the record has no levels, returns "".
std::string hostsUnlikePlan(const dpc_program_t &program, const uint32_t *hosts);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_PLANNEDHOSTS_H

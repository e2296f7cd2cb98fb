#ifndef DPC_RUNTIME_SRC_LAUNCH_ASKRANKS_H
#define DPC_RUNTIME_SRC_LAUNCH_ASKRANKS_H

#include "dpc/status.h"

#include <cstdint>
#include <string>

namespace dpc {

/// DPC_INVALID if `program` cannot be a program. That is so if there is no such
/// file (a name without a folder is looked up in PATH), or if the path is a
/// folder or an ONNX model. The message names it.
dpc_status_t checkIsThere(const std::string &program);

/// Runs the program with --print-ranks and reads its number of ranks.
/// DPC_INVALID if the answer is not a number or does not come within ten
/// seconds. SIGINT, SIGTERM and SIGHUP must be blocked; if one arrives
/// meanwhile, the status is DPC_INTERRUPTED. No process that this call starts
/// survives it.
dpc_status_t askRanks(const std::string &program, uint32_t *out);

/// Removes the variables that make a process a rank of a run from the
/// environment, before this process starts or becomes a program that is not a
/// rank.
void forgetRank();

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_ASKRANKS_H

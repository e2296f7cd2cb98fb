#ifndef DPC_RUNTIME_SRC_LAUNCH_ASKRANKS_H
#define DPC_RUNTIME_SRC_LAUNCH_ASKRANKS_H

#include "dpc/status.h"

#include <cstdint>
#include <string>

namespace dpc {

/// Returns DPC_INVALID, with a message that names the path, if `program` cannot be a
/// program: the file does not exist, or it is a folder or an ONNX model. A name without
/// a folder is searched in PATH.
dpc_status_t checkIsThere(const std::string &program);

/// Runs the program with --print-ranks and reads its number of ranks. Returns
/// DPC_INVALID if the answer is not a number or does not come within ten seconds.
/// SIGINT, SIGTERM and SIGHUP must be blocked. If one of these signals arrives during
/// the call, returns DPC_INTERRUPTED. When the call ends, it has ended all processes
/// that it started.
dpc_status_t askRanks(const std::string &program, uint32_t *out);

/// Removes from the environment the variables that make a process a rank of a run.
/// Called before this process starts a program, or becomes a program, that is not a
/// rank.
void forgetRank();

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_ASKRANKS_H

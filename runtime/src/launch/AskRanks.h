#ifndef DPC_RUNTIME_SRC_LAUNCH_ASKRANKS_H
#define DPC_RUNTIME_SRC_LAUNCH_ASKRANKS_H

#include "dpc/status.h"

#include <cstdint>
#include <string>

namespace dpc {

/// DPC_INVALID, naming it, if there is no file of a program's name: at that path or,
/// without a folder in it, in PATH. The same for a folder and for an ONNX model.
dpc_status_t checkIsThere(const std::string &program);

/// The number of ranks that a program names with --print-ranks. A program that
/// says nothing useful is DPC_INVALID, and is waited for ten seconds at most.
/// Signals SIGINT, SIGTERM and SIGHUP must be blocked: one that arrives
/// meanwhile is DPC_INTERRUPTED. Nothing of the program is left running.
dpc_status_t askRanks(const std::string &program, uint32_t *out);

/// Takes from the environment that this process is a rank of a run, for a
/// program that is to be none.
void forgetRank();

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_ASKRANKS_H

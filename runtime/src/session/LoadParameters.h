#ifndef DPC_RUNTIME_SRC_SESSION_LOADPARAMETERS_H
#define DPC_RUNTIME_SRC_SESSION_LOADPARAMETERS_H

#include "runtime/src/session/ParameterSpec.h"
#include "runtime/src/session/Session.h"

#include <string>
#include <vector>

namespace dpc {

/// Sets parameters (frozen ones too) and buffers from a safetensors file, the shards of
/// one, or a checkpoint.
/// DPC_INVALID for a parameter or running statistic that is
/// asked for and not in the file, for another shape, for a constant of the
/// program that has another value in the file, and for globs and prefixes that
/// mean nothing. `notes` gets one line for each way in which tensors of the
/// file or the program were left out.
dpc_status_t loadParameters(dpc_session &session, const ParameterSpec &source,
                            std::vector<std::string> *notes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_LOADPARAMETERS_H

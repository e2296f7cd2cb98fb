#ifndef DPC_RUNTIME_SRC_SESSION_LOADPARAMETERS_H
#define DPC_RUNTIME_SRC_SESSION_LOADPARAMETERS_H

#include "runtime/src/session/ParameterSpec.h"
#include "runtime/src/session/Session.h"

#include <string>
#include <vector>

namespace dpc {

/// Sets parameters (frozen ones too) and buffers from a safetensors file, a model
/// in several safetensors files, or a checkpoint.
///
/// Returns DPC_INVALID if a requested parameter or running statistic is missing in the file (unless
/// `source` is partial) or has another shape. The shapes may differ in dimensions of extent 1: a
/// parameter [8] can be read from a tensor [1, 8]. Also returns DPC_INVALID if a constant of the
/// program has another value in the file, or if a glob or prefix matches no name. `notes` gets a
/// line that says how many tensors were loaded, and one line for each reason why tensors of the
/// file or of the program were left out.
dpc_status_t loadParameters(dpc_session &session, const ParameterSpec &source,
                            std::vector<std::string> *notes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_LOADPARAMETERS_H

#ifndef DPC_RUNTIME_SRC_SESSION_SAVEPARAMETERS_H
#define DPC_RUNTIME_SRC_SESSION_SAVEPARAMETERS_H

#include "runtime/src/session/ParameterSpec.h"
#include "runtime/src/session/Session.h"

#include <string>
#include <vector>

namespace dpc {

/// One tensor of a file of parameters.
struct SavedTensor {
  uint32_t state; ///< index
  std::string name;
};

/// What the file of `spec` has: each parameter and each buffer of the module's
/// own list of state under every name that the module has for it. DPC_INVALID,
/// naming the option, for globs and prefixes that mean nothing, for two tensors
/// of one name and for no tensor at all.
dpc_status_t listSavedTensors(const dpc_program_t &program, const ParameterSpec &spec,
                              std::vector<SavedTensor> *out);

/// Collective. Writes them as safetensors.
dpc_status_t saveParameters(dpc_session &session, const ParameterSpec &spec);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_SAVEPARAMETERS_H

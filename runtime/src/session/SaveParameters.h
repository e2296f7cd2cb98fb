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

/// Lists the tensors of the file of `spec`: each parameter, and each buffer in
/// the module's own state dict, under every name that the module has for it.
/// DPC_INVALID, with a message that names the option, if a glob or prefix
/// matches no name, if two tensors get the same name, or if the list is empty.
dpc_status_t listSavedTensors(const dpc_program_t &program, const ParameterSpec &spec,
                              std::vector<SavedTensor> *out);

/// Collective. Writes the listed tensors as a safetensors file.
dpc_status_t saveParameters(dpc_session &session, const ParameterSpec &spec);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_SAVEPARAMETERS_H

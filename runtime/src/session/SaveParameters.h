#ifndef DPC_RUNTIME_SRC_SESSION_SAVEPARAMETERS_H
#define DPC_RUNTIME_SRC_SESSION_SAVEPARAMETERS_H

#include "runtime/src/session/ParameterSpec.h"
#include "runtime/src/session/Session.h"

#include <string>
#include <vector>

namespace dpc {

/// One tensor of a file of parameters.
struct SavedTensor {
  uint32_t state; ///< index in the program's list of states
  std::string name;
};

/// Lists the tensors to write to the file of `spec`: the parameters, and the buffers
/// that the state_dict of the PyTorch module has, as far as `only` and `except` select
/// them. A tied parameter is listed under each of its names. Returns DPC_INVALID if a
/// glob or prefix matches no name, if two tensors get the same name, or if the list is
/// empty. The message names the option.
dpc_status_t listSavedTensors(const dpc_program_t &program, const ParameterSpec &spec,
                              std::vector<SavedTensor> *out);

/// Collective. Writes the listed tensors as a safetensors file.
dpc_status_t saveParameters(dpc_session &session, const ParameterSpec &spec);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_SAVEPARAMETERS_H

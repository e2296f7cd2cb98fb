#ifndef DPC_RUNTIME_SRC_CORE_STATEFILES_H
#define DPC_RUNTIME_SRC_CORE_STATEFILES_H

#include "runtime/src/core/Session.h"

#include <functional>

namespace dpc {

/// Collective. Assembles the wanted logical states on rank 0 and calls
/// write(arrays) there; its failure fails all ranks.
dpc_status_t collectStates(
    dpc_session &session,
    const std::function<bool(const dpc_state_t &)> &wanted,
    const std::function<dpc_status_t(const std::vector<dpc_array_t> &)> &write);

/// DPC_INVALID, naming the state and both, unless the shapes are the same.
dpc_status_t checkShape(const dpc_state_t &state, const dpc_array_t &array);

/// Sets a state from a logical tensor of the same shape (and, if asked, the
/// same type).
dpc_status_t loadState(dpc_session &session, uint32_t index,
                       const dpc_array_t &array, bool exactType);

/// Sets all states. DPC_INVALID when the file lacks one, has one in another
/// shape or type, or has one of another program.
dpc_status_t loadAllStates(dpc_session &session, const dpc_array_file_t &file);

/// DPC_INVALID, saying why, when the program cannot save its model as ONNX.
dpc_status_t checkOnnx(const dpc_program_t &program);

/// Collective. Writes the program's ONNX template with the present values in
/// it.
dpc_status_t saveOnnx(dpc_session &session, const char *path);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CORE_STATEFILES_H

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

/// Whether a logical tensor has the state's shape (and, if asked, its type);
/// DPC_INVALID names both.
dpc_status_t checkState(const dpc_state_t &state, const dpc_array_t &array,
                        bool exactType);

/// Sets a state from a logical tensor of the same shape (and, if asked, the
/// same type).
dpc_status_t loadState(dpc_session &session, uint32_t index,
                       const dpc_array_t &array, bool exactType);

/// Sets all states that the file has; one that is needed and missing is
/// DPC_INVALID.
dpc_status_t loadStates(dpc_session &session, const dpc_array_file_t &file,
                        const std::function<bool(const dpc_state_t &)> &needed,
                        bool exactType);

/// Collective. Writes the program's ONNX template with the present values in
/// it.
dpc_status_t saveOnnx(dpc_session &session, const char *path);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CORE_STATEFILES_H

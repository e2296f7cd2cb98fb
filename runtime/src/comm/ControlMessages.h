#ifndef DPC_RUNTIME_SRC_COMM_CONTROLMESSAGES_H
#define DPC_RUNTIME_SRC_COMM_CONTROLMESSAGES_H

#include "dpc/comm.h"

#include <cstdint>

namespace dpc {

// Small messages between the hosts of all ranks. `window` is memory of `comm`
// for them. It holds this rank's message; for a gather, the messages of all
// ranks follow from the next multiple of DPC_ALIGNMENT on.

/// Collective: every rank sends `bytes` bytes to all ranks. `all` has them
/// ordered by rank.
dpc_status_t gatherControl(dpc_comm_t &comm, char *window, const void *mine, uint64_t bytes,
                           void *all);
/// Collective: rank 0 sends its message to all ranks.
dpc_status_t broadcastControl(dpc_comm_t &comm, char *window, void *message, uint64_t bytes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_CONTROLMESSAGES_H

#ifndef DPC_RUNTIME_SRC_COMM_CONTROLMESSAGES_H
#define DPC_RUNTIME_SRC_COMM_CONTROLMESSAGES_H

#include "dpc/comm.h"

#include <cstdint>

namespace dpc {

// Small messages between the hosts of all ranks. `window` is memory that `comm`
// has allocated for these messages. The window holds this rank's message. For a
// gather, the messages of all ranks follow in the window, from the next multiple
// of DPC_ALIGNMENT on.

/// Collective: every rank sends `bytes` bytes to all ranks. `all` receives the
/// messages of all ranks, ordered by rank.
dpc_status_t gatherControl(dpc_comm_t &comm, char *window, const void *mine, uint64_t bytes,
                           void *all);
/// Collective: rank 0 sends its message to all ranks.
dpc_status_t broadcastControl(dpc_comm_t &comm, char *window, void *message, uint64_t bytes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_CONTROLMESSAGES_H

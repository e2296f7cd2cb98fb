#ifndef DPC_RUNTIME_SRC_COMM_CONTROLMESSAGES_H
#define DPC_RUNTIME_SRC_COMM_CONTROLMESSAGES_H

#include "dpc/comm.h"

#include <cstdint>

namespace dpc {

// Small messages between the hosts of all ranks. They go through `window`, memory
// of `comm` that holds them: the message, and for a gather, from the next
// multiple of DPC_ALIGNMENT on, those of all ranks.

/// Collective: `bytes` bytes of each rank to all, in the order of their numbers.
dpc_status_t gatherControl(dpc_comm_t &comm, char *window, const void *mine, uint64_t bytes,
                           void *all);
/// Collective: those of rank 0 to all.
dpc_status_t broadcastControl(dpc_comm_t &comm, char *window, void *message, uint64_t bytes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_CONTROLMESSAGES_H

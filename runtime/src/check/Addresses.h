#ifndef DPC_RUNTIME_SRC_CHECK_ADDRESSES_H
#define DPC_RUNTIME_SRC_CHECK_ADDRESSES_H

#include "runtime/src/check/Findings.h"
#include "runtime/src/comm/Lobby.h"

namespace dpc {

/// Collective. Checks whether each rank reaches the ranks below it at their addresses, as a run
/// over several hosts does. All ranks can reach rank 0, where they have met. Fills the addresses of
/// `findings`; if this rank cannot listen at its own address, sets its status too.
dpc_status_t checkAddresses(Lobby &lobby, Findings *findings);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECK_ADDRESSES_H

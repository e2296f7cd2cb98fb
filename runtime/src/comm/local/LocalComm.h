#ifndef DPC_RUNTIME_SRC_COMM_LOCAL_LOCALCOMM_H
#define DPC_RUNTIME_SRC_COMM_LOCAL_LOCALCOMM_H

#include "runtime/src/comm/Lobby.h"

namespace dpc {

/// Creates a communicator of the transport `local`. Its ranks are processes of one
/// host. They have met in `lobby`, and communicate through memory that all of them map.
dpc_status_t createLocalComm(const dpc_comm_options_t &options, Lobby &lobby, dpc_comm_t **outComm);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_LOCAL_LOCALCOMM_H

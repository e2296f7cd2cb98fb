#ifndef DPC_RUNTIME_SRC_COMM_CONNECTIONS_H
#define DPC_RUNTIME_SRC_COMM_CONNECTIONS_H

#include "runtime/src/comm/Lobby.h"

namespace dpc {

/// Opens a socket to each other rank, for transports that send messages over
/// sockets. `outSockets` is indexed by rank. All ranks must call it, and none may use the lobby
/// after it. Fails in the same cases as serveRendezvous and joinRendezvous.
dpc_status_t connectRanks(Lobby &lobby, std::vector<Fd> *outSockets);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_CONNECTIONS_H

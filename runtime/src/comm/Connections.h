#ifndef DPC_RUNTIME_SRC_COMM_CONNECTIONS_H
#define DPC_RUNTIME_SRC_COMM_CONNECTIONS_H

#include "runtime/src/base/Fd.h"

#include "dpc/comm.h"

#include <vector>

namespace dpc {

/// Opens a socket to each other rank, for transports that send messages over
/// sockets. `outSockets` is indexed by rank. All ranks must call it, with the same
/// `transport`. Fails in the same cases as serveRendezvous and joinRendezvous.
dpc_status_t connectRanks(const dpc_comm_options_t &options, const char *transport,
                          std::vector<Fd> *outSockets);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_CONNECTIONS_H

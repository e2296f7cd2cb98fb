#ifndef DPC_RUNTIME_SRC_COMM_CONNECTIONS_H
#define DPC_RUNTIME_SRC_COMM_CONNECTIONS_H

#include "runtime/src/base/Fd.h"

#include "dpc/comm.h"

#include <vector>

namespace dpc {

/// A socket to each other rank, by rank, for a transport that sends messages or
/// has its own way to tell. All ranks call it with the same transport. Fails as
/// serveRendezvous and joinRendezvous do.
dpc_status_t connectRanks(const dpc_comm_options_t &options, const char *transport,
                          std::vector<Fd> *outSockets);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_CONNECTIONS_H

#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_SOCKETSCOMM_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_SOCKETSCOMM_H

#include "runtime/src/comm/Hosts.h"
#include "runtime/src/comm/wires/Wire.h"

#include <memory>

namespace dpc {

/// Creates a communicator of the transport `sockets`. Its ranks have met in `lobby`. They
/// send each other messages over TCP. Ranks that have one host in `hosts` share memory: their
/// groups run as in the transport `local`, and data between them is copied once. If `wire` is not
/// null, it moves the other data, and gives the transport its name.
dpc_status_t createSocketsComm(const dpc_comm_options_t &options, Lobby &lobby, Hosts hosts,
                               std::unique_ptr<wires::Wire> wire, dpc_comm_t **outComm);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_SOCKETSCOMM_H

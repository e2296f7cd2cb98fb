#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_SOCKETSCOMM_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_SOCKETSCOMM_H

#include "dpc/comm.h"

namespace dpc {

/// Creates a communicator of the transport `sockets`. Its ranks send each other
/// messages over TCP and share no memory. It cannot emulate a slow link: if the
/// options give a bandwidth or a latency, returns DPC_USAGE.
dpc_status_t createSocketsComm(const dpc_comm_options_t *options, dpc_comm_t **outComm);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_SOCKETSCOMM_H

#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_SOCKETSCOMM_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_SOCKETSCOMM_H

#include "dpc/comm.h"

namespace dpc {

/// The transport `sockets`: ranks send each other messages over TCP and share
/// no memory. It does not emulate links: DPC_USAGE if the options ask for one.
dpc_status_t createSocketsComm(const dpc_comm_options_t *options, dpc_comm_t **outComm);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_SOCKETSCOMM_H

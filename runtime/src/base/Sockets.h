#ifndef DPC_RUNTIME_SRC_BASE_SOCKETS_H
#define DPC_RUNTIME_SRC_BASE_SOCKETS_H

#include "runtime/src/base/Fd.h"

#include "dpc/status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace dpc {

/// Listens at tcp://HOST:PORT (HOST must be a loopback address: ranks are
/// on one machine as yet, and no other is to reach the socket) or in the directory of
/// file://DIR, which is made with mode 0700 or must be ours with that mode.
dpc_status_t listenAt(const std::string &address, Fd *outFd);

/// Listens at a free port of the loopback interface.
dpc_status_t listenOnLoopback(Fd *outFd, uint16_t *outPort);

/// Removes what listenAt made for file://DIR: the socket, and the directory if
/// nothing else is in it.
void stopListening(const std::string &address);

/// Connects, trying again until `deadline` while nobody listens yet.
dpc_status_t connectTo(const std::string &address, double deadline, Fd *outFd);

/// Moves exactly `bytes`; false on error, end of stream or deadline.
bool sendAll(int fd, const void *data, size_t bytes, double deadline);
bool receiveAll(int fd, void *data, size_t bytes, double deadline);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_SOCKETS_H

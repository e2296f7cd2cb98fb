#ifndef DPC_RUNTIME_SRC_BASE_SOCKETS_H
#define DPC_RUNTIME_SRC_BASE_SOCKETS_H

#include "runtime/src/base/Fd.h"

#include "dpc/status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace dpc {

/// Listens at tcp://HOST:PORT or in the directory of file://DIR. HOST must be a
/// loopback address: all ranks are on one machine so far, and other machines
/// must not reach the socket. DIR is created with mode 0700, or must exist with
/// that mode and belong to this user.
dpc_status_t listenAt(const std::string &address, Fd *outFd);

/// Listens on a free port of the loopback interface.
dpc_status_t listenOnLoopback(Fd *outFd, uint16_t *outPort);

/// Removes the socket that listenAt created for file://DIR, and the directory
/// if it is empty then.
void stopListening(const std::string &address);

/// Connects to a listener. Retries until `deadline` as long as no process
/// listens there.
dpc_status_t connectTo(const std::string &address, double deadline, Fd *outFd);

/// Sends or receives exactly `bytes`; false on error, end of stream or
/// deadline.
bool sendAll(int fd, const void *data, size_t bytes, double deadline);
bool receiveAll(int fd, void *data, size_t bytes, double deadline);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_SOCKETS_H

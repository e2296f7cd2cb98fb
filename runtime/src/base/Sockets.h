#ifndef DPC_RUNTIME_SRC_BASE_SOCKETS_H
#define DPC_RUNTIME_SRC_BASE_SOCKETS_H

#include "runtime/src/base/Fd.h"

#include "dpc/status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace dpc {

/// Listens at tcp://HOST:PORT or in the directory of file://DIR. HOST must be a
/// loopback address, because all ranks are on one machine so far, and other
/// machines must not reach the socket. If DIR does not exist, it is created with
/// mode 0700. An existing DIR must have this mode and belong to this user.
dpc_status_t listenAt(const std::string &address, Fd *outFd);

/// Listens on a free port of the loopback interface.
dpc_status_t listenOnLoopback(Fd *outFd, uint16_t *outPort);

/// Removes the socket that listenAt created for file://DIR. Also removes the
/// directory if it is then empty.
void stopListening(const std::string &address);

/// Connects to a listener at `address`. If no process listens there yet, retries
/// until `deadline`.
dpc_status_t connectTo(const std::string &address, double deadline, Fd *outFd);

/// Sends or receives exactly `bytes` bytes. Returns false on an error, at the end of the stream, or
/// at `deadline`, a time of the clock monotonicSeconds().
bool sendAll(int fd, const void *data, size_t bytes, double deadline);
bool receiveAll(int fd, void *data, size_t bytes, double deadline);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_SOCKETS_H

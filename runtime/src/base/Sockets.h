#ifndef DPC_RUNTIME_SRC_BASE_SOCKETS_H
#define DPC_RUNTIME_SRC_BASE_SOCKETS_H

#include "runtime/src/base/Fd.h"

#include "dpc/status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace dpc {

/// Listens at tcp://HOST:PORT or in the directory of file://DIR (Endpoint.h). HOST must be
/// an address of this host. Of a range of ports, takes the first one that is free. If DIR
/// does not exist, it is created with mode 0700. An existing DIR must have this mode and
/// belong to this user.
dpc_status_t listenAt(const std::string &address, Fd *outFd);

/// Listens on a free port of the address `host`, a number or a name.
dpc_status_t listenOn(const std::string &host, Fd *outFd, uint16_t *outPort);

/// Removes the socket that listenAt created for file://DIR. Also removes the
/// directory if it is then empty.
void stopListening(const std::string &address);

/// Talks to the listener behind a new connection, and returns DPC_OK if it is the wanted one. With
/// DPC_PEER, connectTo looks for another listener. With another failure, connectTo fails.
using Greeting = std::function<dpc_status_t(int fd)>;

/// Connects to a listener at `address` for which `greet` returns DPC_OK. If the host has no known
/// address yet, if it cannot be reached, or if no wanted process listens there yet, retries until
/// `deadline`.
dpc_status_t connectTo(
    const std::string &address, double deadline, Fd *outFd,
    const Greeting &greet = [](int) { return dpc_status_t(DPC_OK); });

/// Lets a connection send each message at once, although earlier ones are not acknowledged yet. Has
/// no effect on a Unix socket.
void sendAtOnce(int fd);

/// Sends or receives exactly `bytes` bytes. Returns false on an error, at the end of the stream, or
/// at `deadline`, a time of the clock monotonicSeconds().
bool sendAll(int fd, const void *data, size_t bytes, double deadline);
bool receiveAll(int fd, void *data, size_t bytes, double deadline);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_SOCKETS_H

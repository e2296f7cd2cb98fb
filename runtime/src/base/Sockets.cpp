// Connects processes by TCP (tcp://HOST:PORT) or, on one host, by a Unix socket
// (file://DIRECTORY). Sends and receives bytes, and gives up at a deadline.

#include "runtime/src/base/Sockets.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

namespace {

/// Longest wait for one address of a host to answer, before the next one is tried. An address
/// that packets do not reach would otherwise take minutes.
constexpr double kConnectSeconds = 3;

dpc_status_t checkDirectory(const std::string &directory) {
  struct stat info;
  if (::lstat(directory.c_str(), &info) != 0)
    return fail(DPC_IO, "rendezvous directory %s: %s", directory.c_str(), std::strerror(errno));
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 077) != 0)
    return fail(DPC_INVALID,
                "rendezvous directory %s: must be a directory of this user "
                "with mode 0700",
                directory.c_str());
  return DPC_OK;
}

bool waitFor(int fd, short events, double deadline) {
  for (;;) {
    double left = deadline - monotonicSeconds();
    if (left <= 0)
      return false;
    pollfd entry = {fd, events, 0};
    int ready = ::poll(&entry, 1, std::max(1, static_cast<int>(std::min(left, 1000.0) * 1000)));
    if (ready > 0)
      return true;
    if (ready < 0 && errno != EINTR)
      return false;
  }
}

/// Binds a new socket to `address` and listens. Returns an invalid descriptor on failure, with the
/// cause in errno.
Fd listenAtAddress(const SocketAddress &address) {
  Fd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int one = 1; // has no effect on a Unix socket
  if (fd.valid())
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (!fd.valid() || ::bind(fd.get(), address.get(), address.length) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0)
    return Fd();
  return fd;
}

/// Connects a new socket to `address`. Returns an invalid descriptor on failure, with the cause in
/// errno.
Fd connectToAddress(const SocketAddress &address, double deadline) {
  Fd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid())
    return fd;
  if (::connect(fd.get(), address.get(), address.length) != 0) {
    if (errno != EINPROGRESS)
      return Fd();
    int error = ETIMEDOUT;
    socklen_t length = sizeof error;
    if (waitFor(fd.get(), POLLOUT, std::min(deadline, monotonicSeconds() + kConnectSeconds)))
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error) {
      errno = error;
      return Fd();
    }
  }
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  sendAtOnce(fd.get());
  return fd;
}

} // namespace

void sendAtOnce(int fd) {
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

dpc_status_t listenAt(const std::string &text, Fd *outFd) {
  Endpoint endpoint;
  std::vector<SocketAddress> addresses;
  if (dpc_status_t status = parseEndpoint(text, &endpoint))
    return status;
  if (endpoint.isDirectory()) {
    if (::mkdir(endpoint.directory.c_str(), 0700) != 0 && errno != EEXIST)
      return fail(DPC_IO, "rendezvous directory %s: %s", endpoint.directory.c_str(),
                  std::strerror(errno));
    if (dpc_status_t status = checkDirectory(endpoint.directory))
      return status;
    ::unlink(endpoint.socketPath().c_str()); // left by a run that was killed
  }
  if (dpc_status_t status = resolve(endpoint, &addresses))
    return status;
  for (const SocketAddress &address : addresses)
    if ((*outFd = listenAtAddress(address)).valid())
      return DPC_OK;
  if (errno == EADDRNOTAVAIL)
    return fail(DPC_INVALID, "rendezvous %s: \"%s\" is no address of this host, where rank 0 runs",
                text.c_str(), endpoint.host.c_str());
  return fail(DPC_PEER, "rendezvous %s: cannot listen: %s", text.c_str(), std::strerror(errno));
}

dpc_status_t listenOn(const std::string &host, Fd *outFd, uint16_t *outPort) {
  Endpoint endpoint;
  std::vector<SocketAddress> addresses;
  if (dpc_status_t status = parseEndpoint(endpointText(host, 1), &endpoint))
    return status;
  if (dpc_status_t status = resolve(endpoint, &addresses))
    return status;
  addresses[0].setPort(0);
  *outFd = listenAtAddress(addresses[0]);
  SocketAddress bound;
  if (!outFd->valid())
    return fail(DPC_IO, "cannot listen on %s: %s", host.c_str(), std::strerror(errno));
  if (dpc_status_t status = localAddress(outFd->get(), &bound))
    return status;
  *outPort = bound.port();
  return DPC_OK;
}

void stopListening(const std::string &text) {
  Endpoint endpoint;
  if (text.rfind("file://", 0) != 0 || parseEndpoint(text, &endpoint))
    return;
  ::unlink(endpoint.socketPath().c_str());
  ::rmdir(endpoint.directory.c_str());
}

namespace {

/// Tries each address and port of `endpoint` once. Returns DPC_PEER if none of them has the wanted
/// listener, and sets `unwanted` to the message about one that has another.
dpc_status_t tryToConnect(const Endpoint &endpoint, double deadline, const Greeting &greet,
                          Fd *outFd, std::string *unwanted) {
  std::vector<SocketAddress> addresses;
  int error = 0;
  if (endpoint.isDirectory() && ::access(endpoint.directory.c_str(), F_OK) != 0)
    error = errno;
  else if (endpoint.isDirectory())
    if (dpc_status_t status = checkDirectory(endpoint.directory))
      return status;
  if (!error)
    if (dpc_status_t status = resolve(endpoint, &addresses))
      return status;
  for (const SocketAddress &address : addresses) {
    Fd fd = connectToAddress(address, deadline);
    if (!fd.valid()) {
      error = error ? error : errno;
      continue;
    }
    const dpc_status_t status = greet(fd.get());
    if (status == DPC_OK)
      *outFd = std::move(fd);
    if (status != DPC_PEER)
      return status;
    *unwanted = dpc_last_error();
  }
  return fail(DPC_PEER, "rendezvous %s: nobody listens there: %s", endpoint.text.c_str(),
              std::strerror(error));
}

} // namespace

dpc_status_t connectTo(const std::string &text, double deadline, Fd *outFd, const Greeting &greet) {
  Endpoint endpoint;
  std::string unwanted;
  if (dpc_status_t status = parseEndpoint(text, &endpoint))
    return status;
  for (useconds_t pause = 1000;; pause = std::min<useconds_t>(pause * 2, 50000)) {
    const dpc_status_t status = tryToConnect(endpoint, deadline, greet, outFd, &unwanted);
    if (status == DPC_PEER && monotonicSeconds() >= deadline && !unwanted.empty())
      return fail(DPC_PEER, "%s", unwanted.c_str());
    if (status != DPC_PEER || monotonicSeconds() >= deadline)
      return status;
    ::usleep(pause);
  }
}

bool sendAll(int fd, const void *data, size_t bytes, double deadline) {
  const char *p = static_cast<const char *>(data);
  while (bytes) {
    if (!waitFor(fd, POLLOUT, deadline))
      return false;
    ssize_t n = ::send(fd, p, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (n <= 0)
      return false;
    p += n, bytes -= static_cast<size_t>(n);
  }
  return true;
}

bool receiveAll(int fd, void *data, size_t bytes, double deadline) {
  char *p = static_cast<char *>(data);
  while (bytes) {
    if (!waitFor(fd, POLLIN, deadline))
      return false;
    ssize_t n = ::recv(fd, p, bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (n <= 0)
      return false;
    p += n, bytes -= static_cast<size_t>(n);
  }
  return true;
}

} // namespace dpc

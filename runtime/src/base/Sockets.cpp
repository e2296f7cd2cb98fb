// Connects processes of one host by loopback TCP (tcp://HOST:PORT) or a Unix
// socket (file://DIRECTORY). Sends and receives bytes, and gives up at a deadline.

#include "runtime/src/base/Sockets.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace dpc {

namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  std::string directory; // file:// only
};

dpc_status_t parseAddress(const std::string &text, Address *out) {
  if (text.rfind("file://", 0) == 0) {
    out->directory = text.substr(7);
    auto *address = reinterpret_cast<sockaddr_un *>(&out->storage);
    std::string path = out->directory + "/rank0";
    if (out->directory.empty() || out->directory[0] != '/')
      return fail(DPC_INVALID, "rendezvous \"%s\": not an absolute directory", text.c_str());
    if (path.size() >= sizeof address->sun_path)
      return fail(DPC_INVALID, "rendezvous \"%s\": longer than %zu bytes", text.c_str(),
                  sizeof address->sun_path - 8);
    address->sun_family = AF_UNIX;
    std::memcpy(address->sun_path, path.c_str(), path.size() + 1);
    out->length = sizeof *address;
    return DPC_OK;
  }
  if (text.rfind("tcp://", 0) != 0)
    return fail(DPC_INVALID, "rendezvous \"%s\": neither tcp://HOST:PORT nor file://DIRECTORY",
                text.c_str());
  size_t colon = text.rfind(':');
  std::string host = text.substr(6, colon < 6 ? 0 : colon - 6), port = text.substr(colon + 1);
  char *end = nullptr;
  long number = std::strtol(port.c_str(), &end, 10);
  if (port.empty() || *end || number < 1 || number > 65535 ||
      !std::isdigit(static_cast<unsigned char>(port[0])))
    return fail(DPC_INVALID, "rendezvous \"%s\": port \"%s\" is not a number from 1 to 65535",
                text.c_str(), port.c_str());
  if (host == "localhost")
    host = "127.0.0.1";
  auto *address = reinterpret_cast<sockaddr_in *>(&out->storage);
  address->sin_family = AF_INET;
  address->sin_port = htons(static_cast<uint16_t>(number));
  if (inet_pton(AF_INET, host.c_str(), &address->sin_addr) != 1)
    return fail(DPC_INVALID, "rendezvous \"%s\": \"%s\" is not an IPv4 address", text.c_str(),
                host.c_str());
  if ((ntohl(address->sin_addr.s_addr) >> 24) != 127)
    return fail(DPC_INVALID,
                "rendezvous \"%s\": not a loopback address, but ranks meet on one machine",
                text.c_str());
  out->length = sizeof *address;
  return DPC_OK;
}

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

} // namespace

dpc_status_t listenAt(const std::string &text, Fd *outFd) {
  Address address;
  if (dpc_status_t status = parseAddress(text, &address))
    return status;
  if (!address.directory.empty()) {
    if (::mkdir(address.directory.c_str(), 0700) != 0 && errno != EEXIST)
      return fail(DPC_IO, "rendezvous directory %s: %s", address.directory.c_str(),
                  std::strerror(errno));
    if (dpc_status_t status = checkDirectory(address.directory))
      return status;
    ::unlink(reinterpret_cast<sockaddr_un *>(&address.storage)
                 ->sun_path); // left by a run that was killed
  }
  Fd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int one = 1;
  if (fd.valid() && address.directory.empty())
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (!fd.valid() ||
      ::bind(fd.get(), reinterpret_cast<sockaddr *>(&address.storage), address.length) != 0 ||
      ::listen(fd.get(), 128) != 0)
    return fail(DPC_PEER, "rendezvous %s: cannot listen: %s", text.c_str(), std::strerror(errno));
  *outFd = std::move(fd);
  return DPC_OK;
}

dpc_status_t listenOnLoopback(Fd *outFd, uint16_t *outPort) {
  sockaddr_in address = {};
  socklen_t length = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  *outFd = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!outFd->valid() ||
      ::bind(outFd->get(), reinterpret_cast<sockaddr *>(&address), sizeof address) != 0 ||
      ::listen(outFd->get(), 128) != 0 ||
      ::getsockname(outFd->get(), reinterpret_cast<sockaddr *>(&address), &length) != 0)
    return fail(DPC_IO, "cannot listen on the loopback interface: %s", std::strerror(errno));
  *outPort = ntohs(address.sin_port);
  return DPC_OK;
}

void stopListening(const std::string &text) {
  if (text.rfind("file://", 0) != 0)
    return;
  const std::string directory = text.substr(7);
  ::unlink((directory + "/rank0").c_str());
  ::rmdir(directory.c_str());
}

dpc_status_t connectTo(const std::string &text, double deadline, Fd *outFd) {
  Address address;
  if (dpc_status_t status = parseAddress(text, &address))
    return status;
  for (useconds_t pause = 1000;; pause = std::min<useconds_t>(pause * 2, 50000)) {
    bool present = address.directory.empty() || ::access(address.directory.c_str(), F_OK) == 0;
    if (present && !address.directory.empty())
      if (dpc_status_t status = checkDirectory(address.directory))
        return status;
    Fd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.valid())
      return fail(DPC_IO, "rendezvous %s: %s", text.c_str(), std::strerror(errno));
    if (present &&
        ::connect(fd.get(), reinterpret_cast<sockaddr *>(&address.storage), address.length) == 0) {
      int one = 1;
      if (address.directory.empty())
        ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      *outFd = std::move(fd);
      return DPC_OK;
    }
    if (monotonicSeconds() >= deadline)
      return fail(DPC_PEER, "rendezvous %s: rank 0 does not listen: %s", text.c_str(),
                  std::strerror(errno));
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

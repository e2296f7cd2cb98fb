// Parses endpoints and finds their socket addresses.

#include "runtime/src/base/Endpoint.h"

#include "runtime/src/base/SharedOptions.h"
#include "runtime/src/base/Status.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

namespace dpc {

namespace {

constexpr const char kFile[] = "file://", kTcp[] = "tcp://";

const sockaddr_in &ipv4(const SocketAddress &address) {
  return reinterpret_cast<const sockaddr_in &>(address.storage);
}

const sockaddr_in6 &ipv6(const SocketAddress &address) {
  return reinterpret_cast<const sockaddr_in6 &>(address.storage);
}

dpc_status_t parseDirectory(const std::string &text, Endpoint *out) {
  out->directory = text.substr(std::strlen(kFile));
  constexpr size_t longest = sizeof sockaddr_un{}.sun_path - 1;
  if (out->directory.empty() || out->directory[0] != '/')
    return fail(DPC_INVALID, "rendezvous \"%s\": not an absolute directory", text.c_str());
  if (out->socketPath().size() > longest)
    return fail(DPC_INVALID, "rendezvous \"%s\": longer than %zu bytes", text.c_str(),
                longest + out->directory.size() - out->socketPath().size());
  return DPC_OK;
}

/// Finds the addresses of a name or a number. Returns the error of getaddrinfo.
int lookUp(const std::string &host, int flags, std::vector<SocketAddress> *out) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error)
    return error;
  const std::unique_ptr<addrinfo, void (*)(addrinfo *)> list(found, ::freeaddrinfo);
  for (const addrinfo *each = found; each; each = each->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.length = each->ai_addrlen;
    out->push_back(address);
  }
  return 0;
}

} // namespace

bool SocketAddress::isLoopback() const {
  if (storage.ss_family == AF_INET)
    return ntohl(ipv4(*this).sin_addr.s_addr) >> 24 == 127;
  return storage.ss_family != AF_INET6 || IN6_IS_ADDR_LOOPBACK(&ipv6(*this).sin6_addr);
}

bool SocketAddress::isWildcard() const {
  if (storage.ss_family == AF_INET)
    return ipv4(*this).sin_addr.s_addr == htonl(INADDR_ANY);
  return storage.ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&ipv6(*this).sin6_addr);
}

uint16_t SocketAddress::port() const {
  return ntohs(storage.ss_family == AF_INET6 ? ipv6(*this).sin6_port : ipv4(*this).sin_port);
}

void SocketAddress::setPort(uint16_t port) {
  // Both structs have the port at the same place.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  reinterpret_cast<sockaddr_in &>(storage).sin_port = htons(port);
}

std::string SocketAddress::host() const {
  char text[NI_MAXHOST];
  if (storage.ss_family == AF_UNIX ||
      ::getnameinfo(get(), length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
    return "";
  return text;
}

dpc_status_t parseEndpoint(const std::string &text, Endpoint *out) {
  *out = {};
  out->text = text;
  if (text.rfind(kFile, 0) == 0)
    return parseDirectory(text, out);
  if (text.rfind(kTcp, 0) != 0)
    return fail(DPC_INVALID, "rendezvous \"%s\": neither tcp://HOST:PORT nor file://DIRECTORY",
                text.c_str());
  const size_t first = std::strlen(kTcp), colon = text.rfind(':');
  std::string host = colon < first ? "" : text.substr(first, colon - first);
  const std::string port = text.substr(colon + 1);
  const size_t dash = port.find('-');
  uint64_t number = 0, last = 0;
  if (!parseWhole(port.substr(0, dash).c_str(), 1, 65535, &number) ||
      !parseWhole(port.substr(dash + 1).c_str(), number, 65535, &last))
    return fail(DPC_INVALID,
                "rendezvous \"%s\": port \"%s\" is neither a number from 1 to 65535 nor a range of "
                "them",
                text.c_str(), port.c_str());
  const bool isBracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (isBracketed)
    host = host.substr(1, host.size() - 2);
  std::vector<SocketAddress> numeric;
  const bool isNumber = !host.empty() && lookUp(host, AI_NUMERICHOST, &numeric) == 0;
  const bool hasColon = host.find(':') != std::string::npos;
  const bool isOdd = host.find_first_of("[]/ ") != std::string::npos;
  if (host.empty() || isOdd || isBracketed != hasColon || (hasColon && !isNumber))
    return fail(DPC_INVALID,
                "rendezvous \"%s\": \"%s\" is neither a name, nor an IPv4 address, nor an IPv6 "
                "address in brackets",
                text.c_str(), host.c_str());
  if (isNumber && numeric[0].isWildcard())
    return fail(
        DPC_INVALID,
        "rendezvous \"%s\": %s stands for all addresses of a host: name the one of rank 0's "
        "host",
        text.c_str(), host.c_str());
  out->host = host;
  out->isName = !isNumber;
  out->port = static_cast<uint16_t>(number);
  out->lastPort = static_cast<uint16_t>(last);
  return DPC_OK;
}

dpc_status_t resolve(const Endpoint &endpoint, std::vector<SocketAddress> *out) {
  out->clear();
  if (endpoint.isDirectory()) {
    SocketAddress address;
    auto *unix = reinterpret_cast<sockaddr_un *>(&address.storage);
    unix->sun_family = AF_UNIX;
    const std::string path = endpoint.socketPath();
    std::memcpy(unix->sun_path, path.c_str(), path.size() + 1); // parseEndpoint checked the length
    address.length = sizeof *unix;
    out->push_back(address);
    return DPC_OK;
  }
  std::vector<SocketAddress> hosts;
  if (const int error = lookUp(endpoint.host, 0, &hosts))
    return fail(DPC_PEER, "rendezvous %s: no address of host \"%s\" is known: %s",
                endpoint.text.c_str(), endpoint.host.c_str(),
                error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error));
  for (uint32_t port = endpoint.port; port <= endpoint.lastPort; ++port)
    for (SocketAddress &address : hosts) {
      address.setPort(static_cast<uint16_t>(port));
      out->push_back(address);
    }
  return DPC_OK;
}

std::string endpointText(const std::string &host, uint32_t port, uint32_t lastPort) {
  const bool isIpv6 = host.find(':') != std::string::npos;
  return kTcp + (isIpv6 ? "[" + host + "]" : host) + ":" + std::to_string(port) +
         (lastPort ? "-" + std::to_string(lastPort) : "");
}

dpc_status_t localAddress(int fd, SocketAddress *out) {
  out->length = sizeof out->storage;
  if (::getsockname(fd, out->get(), &out->length) != 0)
    return fail(DPC_IO, "a socket has no address: %s", std::strerror(errno));
  return DPC_OK;
}

std::string otherHost(int fd) {
  SocketAddress peer, own;
  peer.length = sizeof peer.storage;
  const bool isKnown = ::getpeername(fd, peer.get(), &peer.length) == 0 && !localAddress(fd, &own);
  return isKnown && peer.host() != own.host() ? peer.host() : "";
}

} // namespace dpc

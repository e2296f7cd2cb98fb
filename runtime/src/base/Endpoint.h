// The place where ranks meet, as a user or a launcher writes it, and the socket addresses that
// it stands for.
#ifndef DPC_RUNTIME_SRC_BASE_ENDPOINT_H
#define DPC_RUNTIME_SRC_BASE_ENDPOINT_H

#include "dpc/status.h"

#include <cstdint>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace dpc {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&storage); }
  sockaddr *get() { return reinterpret_cast<sockaddr *>(&storage); }
  /// Whether only processes of this host can reach the address.
  bool isLoopback() const;
  /// Whether the address stands for all addresses of a host: 0.0.0.0 or ::.
  bool isWildcard() const;
  uint16_t port() const;
  void setPort(uint16_t port);
  /// The host as a number, e.g. "10.0.0.1" or "fe80::1%eth0"; "" for a Unix socket.
  std::string host() const;
};

/// tcp://HOST:PORT, tcp://HOST:FIRST-LAST or file://DIRECTORY. HOST is a name, an IPv4
/// number, or an IPv6 number in brackets. Of a range of ports, rank 0 takes the first one
/// that is free, and the other ranks look for the one at which rank 0 listens.
struct Endpoint {
  std::string text;
  std::string directory; ///< of file://, else ""
  std::string host;      ///< of tcp://, without brackets, else ""
  bool isName = false;   ///< whether `host` is a name, and not the number of an address
  uint16_t port = 0, lastPort = 0;

  bool isDirectory() const { return !directory.empty(); }
  /// The file name of the socket that rank 0 creates in `directory`.
  std::string socketPath() const { return directory + "/rank0"; }
};

/// Returns DPC_INVALID if `text` has another form, if the directory is not absolute or its name
/// too long for a socket, or if HOST is a wildcard.
dpc_status_t parseEndpoint(const std::string &text, Endpoint *out);

/// Finds the socket addresses of an endpoint: for each of its ports, the addresses of its host in
/// the order in which the system prefers them.
/// Returns DPC_PEER if no host has the name. The name may become known later, for example when
/// the other host has started.
dpc_status_t resolve(const Endpoint &endpoint, std::vector<SocketAddress> *out);

/// The text of a tcp:// endpoint, e.g. tcp://10.0.0.1:29500, or tcp://[fe80::1]:29500-29516 with
/// `lastPort`.
std::string endpointText(const std::string &host, uint32_t port, uint32_t lastPort = 0);

/// The address of this end of a connected or listening socket.
dpc_status_t localAddress(int fd, SocketAddress *out);
/// The host of the peer to which a socket is connected, see SocketAddress::host. "" if it is that
/// of this end of the socket, too.
std::string otherHost(int fd);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_ENDPOINT_H

// Connects every two ranks of a run. All ranks have a connection to rank 0. Each rank
// from 1 on is the server of a further meeting with all higher ranks. At each meeting
// the ranks prove that they know the run's token.
#include "runtime/src/comm/Connections.h"

#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Status.h"

#include <cstring>
#include <net/if.h>
#include <netinet/in.h>

namespace dpc {

namespace {

/// The record that a rank sends to the others: the address at which it listens, and on rank 0 a
/// random secret, from which all ranks derive the token of the further meetings.
struct Contact {
  char host[INET6_ADDRSTRLEN + 1 + IF_NAMESIZE]; ///< a number, with the scope of IPv6
  uint16_t port;
  Digest secret;
};

/// Listens on the address with which this rank has reached rank 0, because the other
/// ranks can reach this rank there too. Ranks that met in a directory are on one host.
dpc_status_t listenFor(const std::string &host, Fd *outListener, Contact *contact) {
  const std::string own = host.empty() ? "127.0.0.1" : host;
  if (own.size() >= sizeof contact->host)
    return fail(DPC_INVALID, "the address %s is too long", own.c_str());
  std::memcpy(contact->host, own.c_str(), own.size() + 1);
  return listenOn(own, outListener, &contact->port);
}

} // namespace

dpc_status_t connectRanks(Lobby &lobby, std::vector<Fd> *outSockets) {
  const uint32_t rank = lobby.rank(), worldSize = lobby.worldSize();
  Fd listener;
  Contact own = {};
  std::vector<Contact> contacts;
  if (dpc_status_t status =
          rank == 0 ? randomDigest(&own.secret) : listenFor(lobby.host(), &listener, &own))
    return status;
  if (dpc_status_t status = lobby.exchange(own, &contacts))
    return status;
  *outSockets = lobby.takeConnections();
  RendezvousOptions meet = lobby.options();
  const Digest &secret = contacts[0].secret;
  meet.token = hmacSha256(meet.token, secret.data(), secret.size());
  for (meet.server = 1; meet.server <= rank && meet.server + 1 < worldSize; ++meet.server) {
    Contact &server = contacts[meet.server];
    server.host[sizeof server.host - 1] = 0;
    meet.address = endpointText(server.host, server.port);
    if (meet.server < rank) {
      if (dpc_status_t status = joinRendezvous(meet, &(*outSockets)[meet.server]))
        return status;
      continue;
    }
    std::vector<Fd> higher;
    meet.listenFd = listener.release();
    if (dpc_status_t status = serveRendezvous(meet, &higher))
      return status;
    for (uint32_t r = rank + 1; r < worldSize; ++r)
      (*outSockets)[r] = std::move(higher[r]);
  }
  return DPC_OK;
}

dpc_status_t swapRecords(const std::vector<Fd> &sockets, const void *own, void *others,
                         size_t bytes) {
  const double deadline = recordDeadline();
  for (uint32_t r = 0; r < sockets.size(); ++r)
    if (sockets[r].valid() &&
        !sendAll(sockets[r].get(), static_cast<const char *>(own) + r * bytes, bytes, deadline))
      return failForLost(r, deadline);
  for (uint32_t r = 0; r < sockets.size(); ++r)
    if (sockets[r].valid() &&
        !receiveAll(sockets[r].get(), static_cast<char *>(others) + r * bytes, bytes, deadline))
      return failForLost(r, deadline);
  return DPC_OK;
}

} // namespace dpc

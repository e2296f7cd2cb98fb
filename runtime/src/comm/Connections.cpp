// Connects every two ranks of a run. First all ranks meet with rank 0 as the
// server. Then each rank from 1 on is the server of a meeting with all higher
// ranks. At each meeting the ranks prove that they know the run's token.
#include "runtime/src/comm/Connections.h"

#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/Rendezvous.h"

#include <cstring>
#include <net/if.h>
#include <netinet/in.h>

namespace dpc {

namespace {

/// The content of a rank's card: the address at which the rank listens. The card of
/// rank 0 has a random secret instead, from which all ranks derive the token of the
/// further meetings.
struct Contact {
  char host[INET6_ADDRSTRLEN + 1 + IF_NAMESIZE] = {}; ///< a number, with the scope of IPv6
  uint64_t port = 0;
  Digest secret{};
};

/// Listens on the address with which this rank reached rank 0, because the other ranks
/// can reach this rank there too. Ranks that met in a directory are on one host.
dpc_status_t listenFor(const std::string &host, Fd *outListener, Card *outCard) {
  Contact contact;
  const std::string own = host.empty() ? "127.0.0.1" : host;
  uint16_t port = 0;
  if (own.size() >= sizeof contact.host)
    return fail(DPC_INVALID, "the address %s is too long", own.c_str());
  if (dpc_status_t status = listenOn(own, outListener, &port))
    return status;
  std::memcpy(contact.host, own.c_str(), own.size() + 1);
  contact.port = port;
  *outCard = Card::of(contact);
  return DPC_OK;
}

std::string addressOf(const Card &card) {
  Contact contact = card.as<Contact>();
  contact.host[sizeof contact.host - 1] = 0;
  return endpointText(contact.host, static_cast<uint16_t>(contact.port));
}

dpc_status_t sayNothing(const std::string &, Card *) { return DPC_OK; }

} // namespace

dpc_status_t connectRanks(const dpc_comm_options_t &options, const char *transport,
                          std::vector<Fd> *outSockets) {
  const uint32_t rank = options.rank, worldSize = options.world_size;
  outSockets->resize(worldSize);
  RendezvousOptions meet;
  if (dpc_status_t status = rendezvousOptions(options, transport, &meet))
    return status;
  if (worldSize == 1)
    return DPC_OK;
  Fd listener;
  Meeting first;
  if (rank == 0) {
    Contact contact;
    if (dpc_status_t status = randomDigest(&contact.secret))
      return status;
    if (dpc_status_t status = serveRendezvous(meet, Card::of(contact), &first))
      return status;
    *outSockets = std::move(first.connections);
  } else {
    if (dpc_status_t status = joinRendezvous(
            meet,
            [&](const std::string &host, Card *card) { return listenFor(host, &listener, card); },
            &first))
      return status;
    (*outSockets)[0] = std::move(first.connections[0]);
  }
  const Digest secret = first.cards[0].as<Contact>().secret;
  meet.token = hmacSha256(meet.token, secret.data(), secret.size());
  for (meet.server = 1; meet.server <= rank && meet.server + 1 < worldSize; ++meet.server) {
    Meeting next;
    meet.address = addressOf(first.cards[meet.server]);
    if (meet.server < rank) {
      if (dpc_status_t status = joinRendezvous(meet, sayNothing, &next))
        return status;
      (*outSockets)[meet.server] = std::move(next.connections[0]);
      continue;
    }
    meet.listenFd = listener.release();
    if (dpc_status_t status = serveRendezvous(meet, {}, &next))
      return status;
    for (uint32_t r = rank + 1; r < worldSize; ++r)
      (*outSockets)[r] = std::move(next.connections[r]);
  }
  return DPC_OK;
}

} // namespace dpc

// Connects every two ranks of a run. First all ranks meet with rank 0 as the
// server. Then each rank from 1 on is the server of a meeting with all higher
// ranks. At each meeting the ranks prove that they know the run's token.
#include "runtime/src/comm/Connections.h"

#include "runtime/src/base/Sockets.h"
#include "runtime/src/comm/Rendezvous.h"

namespace dpc {

namespace {

/// The content of a rank's card: the port on which the rank listens. The card of
/// rank 0 also has a random secret, from which all ranks derive the token of the
/// further meetings.
struct Contact {
  uint64_t port = 0;
  Digest secret{};
};

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
  Contact contact;
  Fd listener;
  uint16_t port = 0;
  if (dpc_status_t status =
          rank == 0 ? randomDigest(&contact.secret) : listenOnLoopback(&listener, &port))
    return status;
  contact.port = port;
  Meeting first;
  if (dpc_status_t status = rank == 0 ? serveRendezvous(meet, Card::of(contact), &first)
                                      : joinRendezvous(meet, Card::of(contact), &first))
    return status;
  if (rank == 0)
    *outSockets = std::move(first.connections);
  else
    (*outSockets)[0] = std::move(first.connections[0]);
  const Digest secret = first.cards[0].as<Contact>().secret;
  meet.token = hmacSha256(meet.token, secret.data(), secret.size());
  for (meet.server = 1; meet.server <= rank && meet.server + 1 < worldSize; ++meet.server) {
    Meeting next;
    meet.address = "tcp://127.0.0.1:" + std::to_string(first.cards[meet.server].as<Contact>().port);
    if (meet.server < rank) {
      if (dpc_status_t status = joinRendezvous(meet, {}, &next))
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

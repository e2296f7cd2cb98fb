// Meets the other ranks at rank 0, and exchanges records through rank 0.

#include "runtime/src/comm/Lobby.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Status.h"

namespace dpc {

namespace {
/// Longest wait for the record of a rank that has joined. The ranks have no other work then.
constexpr double kRecordSeconds = 10;
} // namespace

dpc_status_t Lobby::open(const dpc_comm_options_t &options, const char *transport,
                         std::set<std::string> *outStrangers) {
  if (dpc_status_t status = rendezvousOptions(options, transport, &meet))
    return status;
  connections.resize(meet.worldSize);
  if (meet.worldSize == 1)
    return DPC_OK;
  if (meet.rank == 0)
    return serveRendezvous(meet, &connections, outStrangers);
  if (dpc_status_t status = joinRendezvous(meet, &connections[0]))
    return status;
  if (options.listen) {
    ownHost = options.listen;
    return DPC_OK;
  }
  SocketAddress own;
  if (dpc_status_t status = localAddress(connections[0].get(), &own))
    return status;
  ownHost = own.host();
  return DPC_OK;
}

double recordDeadline() { return monotonicSeconds() + kRecordSeconds; }

dpc_status_t failForLost(uint32_t rank, double deadline) {
  return fail(DPC_PEER, "rank %u %s before the run began", rank,
              monotonicSeconds() < deadline ? "died"
                                            : "is frozen: it joined, but was not heard of");
}

/// Rank 0 receives the record of every rank, and then sends all of them to every rank.
dpc_status_t Lobby::exchange(void *all, size_t bytes) {
  const double deadline = recordDeadline();
  auto *records = static_cast<char *>(all);
  const bool isServer = meet.rank == 0;
  for (uint32_t r = 0; r < meet.worldSize; ++r)
    if (connections[r].valid()) {
      const int fd = connections[r].get();
      if (isServer ? !receiveAll(fd, records + r * bytes, bytes, deadline)
                   : !sendAll(fd, records + meet.rank * bytes, bytes, deadline))
        return failForLost(r, deadline);
    }
  for (uint32_t r = 0; r < meet.worldSize; ++r)
    if (connections[r].valid()) {
      const int fd = connections[r].get();
      if (isServer ? !sendAll(fd, records, meet.worldSize * bytes, deadline)
                   : !receiveAll(fd, records, meet.worldSize * bytes, deadline))
        return failForLost(r, deadline);
    }
  return DPC_OK;
}

} // namespace dpc

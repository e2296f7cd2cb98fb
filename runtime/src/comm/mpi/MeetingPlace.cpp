// Tells the ranks through MPI where they meet.

#include "runtime/src/comm/mpi/MeetingPlace.h"

#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/Rendezvous.h"

#include <cstdio>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>

namespace dpc::mpi {

namespace {

struct Told {
  dpc_status_t status;
  char rendezvous[128];
  char token[65];
  char reason[256]; ///< of a failure
};

dpc_status_t listenForOthers(Told *out, Fd *outListener) {
  const std::string host = outerAddress();
  uint16_t port = 0;
  std::string token;
  if (host.empty())
    return fail(DPC_INVALID, "--comm=mpi: the host of rank 0 has no address that other hosts can "
                             "reach: set DPC_RENDEZVOUS=tcp://HOST:PORT and DPC_TOKEN_FILE");
  if (dpc_status_t status = listenOn(host, outListener, &port))
    return status;
  if (dpc_status_t status = makeToken(&token))
    return status;
  std::snprintf(out->rendezvous, sizeof out->rendezvous, "%s", endpointText(host, port).c_str());
  std::snprintf(out->token, sizeof out->token, "%s", token.c_str());
  return DPC_OK;
}

} // namespace

std::string outerAddress() {
  ifaddrs *list = nullptr;
  if (::getifaddrs(&list) != 0)
    return "";
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs *)> owner(list, ::freeifaddrs);
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs *each = list; each; each = each->ifa_next) {
      if (!each->ifa_addr || each->ifa_addr->sa_family != family || !(each->ifa_flags & IFF_UP) ||
          (each->ifa_flags & IFF_LOOPBACK))
        continue;
      SocketAddress address;
      address.length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
      std::memcpy(address.get(), each->ifa_addr, address.length);
      return address.host();
    }
  return "";
}

dpc_status_t findMeetingPlace(MpiWire &wire, dpc_comm_options_t *options, MeetingPlace *place) {
  if (options->world_size == 1 || (options->rendezvous && options->rendezvous[0]))
    return DPC_OK;
  Told told = {};
  Fd listener;
  if (options->rank == 0) {
    told.status = listenForOthers(&told, &listener);
    if (told.status)
      std::snprintf(told.reason, sizeof told.reason, "%s", dpc_last_error());
  }
  if (dpc_status_t status = wire.broadcast(&told, sizeof told))
    return status;
  if (told.status)
    return fail(told.status, "%s", told.reason);
  place->rendezvous = told.rendezvous;
  place->token = told.token;
  options->rendezvous = place->rendezvous.c_str();
  options->token = place->token.c_str();
  options->listen_fd = listener.release();
  return DPC_OK;
}

} // namespace dpc::mpi

// Calls the other ranks at the addresses where they listen.

#include "runtime/src/check/Addresses.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

namespace dpc {

namespace {

constexpr double kReachSeconds = 1.5;

struct Place {
  char host[64];
  uint16_t port; ///< 0: the rank does not listen
};

/// A connection that is being made.
struct Call {
  uint32_t rank;
  Fd fd;
  int error; ///< EINPROGRESS: not known yet
};

Call begin(uint32_t rank, const Place &place) {
  Endpoint endpoint;
  std::vector<SocketAddress> addresses;
  if (parseEndpoint(endpointText(place.host, place.port), &endpoint) ||
      resolve(endpoint, &addresses))
    return {rank, Fd(), EADDRNOTAVAIL};
  const SocketAddress &to = addresses[0];
  Fd fd(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool isDone = fd.valid() && ::connect(fd.get(), to.get(), to.length) == 0;
  const int error = isDone ? 0 : errno;
  return {rank, std::move(fd), error};
}

/// Waits until it is known of each call whether it succeeds.
void finish(std::vector<Call> &calls) {
  for (const double deadline = monotonicSeconds() + kReachSeconds;;) {
    std::vector<pollfd> polled;
    std::vector<Call *> waiting;
    for (Call &call : calls)
      if (call.error == EINPROGRESS) {
        polled.push_back({call.fd.get(), POLLOUT, 0});
        waiting.push_back(&call);
      }
    const double left = deadline - monotonicSeconds();
    if (waiting.empty())
      return;
    if (left <= 0) {
      for (Call *call : waiting)
        call->error = ETIMEDOUT;
      return;
    }
    ::poll(polled.data(), polled.size(), std::max(1, static_cast<int>(left * 1000)));
    for (size_t i = 0; i < waiting.size(); ++i)
      if (polled[i].revents) {
        socklen_t length = sizeof waiting[i]->error;
        ::getsockopt(waiting[i]->fd.get(), SOL_SOCKET, SO_ERROR, &waiting[i]->error, &length);
      }
  }
}

} // namespace

dpc_status_t checkAddresses(Lobby &lobby, Findings *findings) {
  Fd listener;
  Place own = {};
  std::vector<Place> places;
  const std::string host = lobby.host();
  copyText(own.host, host);
  copyText(findings->address, host);
  if (!host.empty() && findings->status == DPC_OK &&
      (findings->status = listenOn(host, &listener, &own.port)))
    copyText(findings->text, dpc_last_error());
  if (dpc_status_t status = lobby.exchange(own, &places))
    return status;
  std::vector<Call> calls;
  const uint32_t rank = lobby.rank(), lowest = rank > kMostCalls ? rank - kMostCalls : 1;
  for (uint32_t other = lowest; other < rank; ++other)
    if (places[other].port)
      calls.push_back(begin(other, places[other]));
  finish(calls);
  for (const Call &call : calls)
    findings->unreached[rank - call.rank - 1] = call.error;
  // The listeners stay until all ranks have called.
  uint32_t done = 1;
  std::vector<uint32_t> all;
  return lobby.exchange(done, &all);
}

} // namespace dpc

// A plain socket as a contender: the least time for the bytes of an all-reduce of two ranks.
#include "bench/Memory.h"
#include "bench/hosts/Contender.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dpc::bench {

namespace {

class Socket : public Contender {
public:
  explicit Socket(const Start &start)
      : start(start), buffer(allocate(kLargest)), connection(connectRanks()) {
    const int on = 1;
    if (!buffer)
      giveUp(start, "no memory");
    ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Socket() override { ::close(connection); }

  float *memory() override { return reinterpret_cast<float *>(buffer); }
  uint32_t summed() const override { return 0; }

  /// An all-reduce of two ranks is a reduce-scatter and an all-gather, which both move one half.
  void run(uint64_t bytes) override {
    for (int phase = 0; phase < 2; ++phase)
      exchange(buffer, buffer + bytes / 2, bytes / 2);
  }

private:
  int connectRanks() const {
    const size_t colon = start.place.rfind(':');
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = ::htons(static_cast<uint16_t>(std::atoi(start.place.c_str() + colon + 1)));
    ::inet_pton(AF_INET, start.place.substr(0, colon).c_str(), &address.sin_addr);
    const auto *at = reinterpret_cast<const sockaddr *>(&address);
    if (start.ranks != 2)
      giveUp(start, "needs two ranks");
    if (start.rank == 0) {
      const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
      if (::bind(listener, at, sizeof address) || ::listen(listener, 1))
        giveUp(start, start.place + ": " + std::strerror(errno));
      const int accepted = ::accept(listener, nullptr, nullptr);
      ::close(listener);
      return accepted;
    }
    for (int tries = 0; tries < 300; ++tries) { // the other rank may start later
      const int own = ::socket(AF_INET, SOCK_STREAM, 0);
      if (::connect(own, at, sizeof address) == 0)
        return own;
      ::close(own);
      ::usleep(100000);
    }
    giveUp(start, start.place + ": " + std::strerror(errno));
  }

  /// Sends and receives `bytes` at once.
  void exchange(const char *from, char *to, uint64_t bytes) const {
    uint64_t sent = 0, received = 0;
    while (sent < bytes || received < bytes) {
      pollfd wanted = {connection, 0, 0};
      wanted.events =
          static_cast<short>((sent < bytes ? POLLOUT : 0) | (received < bytes ? POLLIN : 0));
      if (::poll(&wanted, 1, -1) < 0)
        giveUp(start, std::strerror(errno));
      if (sent < bytes && (wanted.revents & POLLOUT))
        sent += moved(::send(connection, from + sent, bytes - sent, MSG_DONTWAIT | MSG_NOSIGNAL));
      if (received < bytes && (wanted.revents & (POLLIN | POLLHUP | POLLERR))) {
        const ssize_t got = ::recv(connection, to + received, bytes - received, MSG_DONTWAIT);
        if (got == 0)
          giveUp(start, "the other rank has ended");
        received += moved(got);
      }
    }
  }

  uint64_t moved(ssize_t bytes) const {
    if (bytes < 0 && errno != EAGAIN && errno != EINTR)
      giveUp(start, std::strerror(errno));
    return static_cast<uint64_t>(std::max<ssize_t>(bytes, 0));
  }

  const Start start;
  char *const buffer;
  const int connection;
};

} // namespace

std::unique_ptr<Contender> makeSocket(const Start &start) {
  return std::make_unique<Socket>(start);
}

} // namespace dpc::bench

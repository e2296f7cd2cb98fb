#include "runtime/src/comm/Rendezvous.h"

#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <vector>

namespace dpc {

namespace {

constexpr uint64_t kMagic = 0x3176647263706401ull;
constexpr double kHandshakeSeconds = 2;
constexpr size_t kMaxConnections = 1024;

// Wire format: fixed sizes, this host's byte order (the peers are processes of
// this host).
struct Challenge {
  uint64_t magic;
  Digest nonce;
};

struct Hello {
  uint64_t magic;
  uint32_t rank;
  uint32_t worldSize;
  Digest planHash;
  Digest nonce;
  Digest proof; // HMAC(token, server nonce, everything above)
};

struct Answer {
  uint64_t magic;
  int64_t status;
  Ticket ticket;
  char text[160];
  Digest proof; // HMAC(token, client nonce, everything above)
};

template <typename Message>
Digest prove(const Digest &token, const Digest &nonce, const Message &message) {
  uint8_t buffer[sizeof nonce + sizeof message];
  std::memcpy(buffer, nonce.data(), nonce.size());
  std::memcpy(buffer + nonce.size(), &message, offsetof(Message, proof));
  return hmacSha256(token, buffer, nonce.size() + offsetof(Message, proof));
}

dpc_status_t randomDigest(Digest *out) {
  if (::getrandom(out->data(), out->size(), 0) !=
      static_cast<ssize_t>(out->size()))
    return fail(DPC_IO, "no random numbers: %s", std::strerror(errno));
  return DPC_OK;
}

/// A connection whose hello is still arriving.
struct Client {
  Fd fd;
  Digest nonce;
  Hello hello;
  size_t received = 0;
  double deadline = 0;
};

/// A rank that has proved itself.
struct Member {
  Fd fd;
  Digest nonce;
};

void answer(const RendezvousOptions &options, const Member &member,
            dpc_status_t status, const char *text, const Ticket &ticket) {
  Answer message{};
  message.magic = kMagic;
  message.status = status;
  message.ticket = ticket;
  std::snprintf(message.text, sizeof message.text, "%s", text);
  message.proof = prove(options.token, member.nonce, message);
  sendAll(member.fd.get(), &message, sizeof message,
          monotonicSeconds() + kHandshakeSeconds);
}

/// Judges a complete hello. DPC_OK with the client left in place: a stranger,
/// to be dropped.
dpc_status_t admit(const RendezvousOptions &options, Client &client,
                   std::vector<Member> &members, size_t &joined) {
  const Hello &hello = client.hello;
  if (hello.magic != kMagic ||
      !equalDigests(hello.proof, prove(options.token, client.nonce, hello)))
    return DPC_OK;
  Member member{std::move(client.fd), hello.nonce};
  char text[160];
  if (hello.worldSize != options.worldSize)
    std::snprintf(text, sizeof text,
                  "rank %u was started with world size %u, rank 0 with %u",
                  hello.rank, hello.worldSize, options.worldSize);
  else if (!equalDigests(hello.planHash, options.planHash))
    std::snprintf(
        text, sizeof text,
        "rank %u runs another program than rank 0 (their plan hashes differ)",
        hello.rank);
  else if (hello.rank == 0 || hello.rank >= options.worldSize)
    std::snprintf(text, sizeof text, "rank %u is not in 1..%u", hello.rank,
                  options.worldSize - 1);
  else if (members[hello.rank].fd.valid())
    std::snprintf(text, sizeof text, "rank %u was started twice", hello.rank);
  else {
    members[hello.rank] = std::move(member);
    ++joined;
    return DPC_OK;
  }
  answer(options, member, DPC_INVALID, text, {});
  return fail(DPC_INVALID, "%s", text);
}

/// Reads what has arrived; true if the connection must be dropped. `outStatus`
/// is set when the run cannot start.
bool advance(const RendezvousOptions &options, Client &client,
             std::vector<Member> &members, size_t &joined,
             dpc_status_t *outStatus) {
  char *to = reinterpret_cast<char *>(&client.hello) + client.received;
  ssize_t n = ::recv(client.fd.get(), to, sizeof(Hello) - client.received,
                     MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return false;
  if (n <= 0)
    return true;
  client.received += static_cast<size_t>(n);
  if (client.received < sizeof(Hello))
    return false;
  *outStatus = admit(options, client, members, joined);
  return true;
}

} // namespace

bool parseToken(const char *hex, Digest *outToken) {
  if (!hex || std::strlen(hex) != 64)
    return false;
  for (size_t i = 0; i < 32; ++i) {
    unsigned value;
    char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
    char *end = nullptr;
    value = static_cast<unsigned>(std::strtoul(pair, &end, 16));
    if (end != pair + 2 || pair[0] == '-' || pair[0] == '+' || pair[0] == ' ')
      return false;
    (*outToken)[i] = static_cast<uint8_t>(value);
  }
  return true;
}

dpc_status_t serveRendezvous(const RendezvousOptions &options,
                             const Ticket &ticket) {
  Fd listener(options.listenFd);
  if (!listener.valid())
    if (dpc_status_t status = listenAt(options.address, &listener))
      return status;
  const double deadline = monotonicSeconds() + options.timeoutSeconds;
  std::vector<Member> members(options.worldSize);
  std::vector<Client> clients;
  size_t joined = 1;
  dpc_status_t status = DPC_OK;
  while (joined < options.worldSize && status == DPC_OK) {
    const double now = monotonicSeconds();
    if (now >= deadline) {
      uint32_t missing = 1;
      while (missing + 1 < options.worldSize && members[missing].fd.valid())
        ++missing;
      status = fail(DPC_PEER,
                    "rank %u did not join within %.0f s (%zu of %u ranks did)",
                    missing, options.timeoutSeconds, joined, options.worldSize);
      break;
    }
    clients.erase(
        std::remove_if(clients.begin(), clients.end(),
                       [&](const Client &c) { return c.deadline <= now; }),
        clients.end());
    std::vector<pollfd> polled{{listener.get(), POLLIN, 0}};
    for (const Client &client : clients)
      polled.push_back({client.fd.get(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), 100) < 0 && errno != EINTR) {
      status = fail(DPC_IO, "rendezvous: %s", std::strerror(errno));
      break;
    }
    for (size_t i = clients.size(); i-- > 0 && status == DPC_OK;)
      if (polled[i + 1].revents &&
          advance(options, clients[i], members, joined, &status))
        clients.erase(clients.begin() + static_cast<ptrdiff_t>(i));
    if (status == DPC_OK && (polled[0].revents & POLLIN) &&
        clients.size() < kMaxConnections) {
      Client client;
      client.fd = Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      Challenge challenge{kMagic, {}};
      if (!client.fd.valid())
        continue;
      if ((status = randomDigest(&challenge.nonce)))
        break;
      client.nonce = challenge.nonce;
      client.deadline = monotonicSeconds() + kHandshakeSeconds;
      if (sendAll(client.fd.get(), &challenge, sizeof challenge,
                  client.deadline))
        clients.push_back(std::move(client));
    }
  }
  stopListening(options.address);
  char text[160];
  std::snprintf(text, sizeof text, "%s", status ? dpc_last_error() : "");
  for (const Member &member : members)
    if (member.fd.valid())
      answer(options, member, status, text, ticket);
  return status;
}

dpc_status_t joinRendezvous(const RendezvousOptions &options,
                            Ticket *outTicket) {
  const double deadline = monotonicSeconds() + options.timeoutSeconds;
  for (;;) {
    Fd fd;
    if (dpc_status_t status = connectTo(options.address, deadline, &fd))
      return status;
    Challenge challenge;
    Hello hello{};
    if (dpc_status_t status = randomDigest(&hello.nonce))
      return status;
    // A listener that hangs up may be a dying earlier run at the same address:
    // try again until the deadline.
    bool spoke =
        receiveAll(fd.get(), &challenge, sizeof challenge,
                   std::min(deadline, monotonicSeconds() + kHandshakeSeconds));
    if (spoke && challenge.magic != kMagic)
      return fail(DPC_PEER, "rendezvous %s: another service answers there",
                  options.address.c_str());
    if (spoke) {
      hello.magic = kMagic;
      hello.rank = options.rank;
      hello.worldSize = options.worldSize;
      hello.planHash = options.planHash;
      hello.proof = prove(options.token, challenge.nonce, hello);
      Answer message;
      if (sendAll(fd.get(), &hello, sizeof hello, deadline)) {
        // Rank 0 waits for the others as long, and tells what it waited for.
        const double answered = deadline + kHandshakeSeconds;
        if (!receiveAll(fd.get(), &message, sizeof message, answered))
          return fail(DPC_PEER,
                      monotonicSeconds() < answered
                          ? "rendezvous %s: rank 0 closed the connection: it "
                            "died, or the run's token differs"
                          : "rendezvous %s: rank 0 is frozen: it was connected "
                            "to, but did not answer",
                      options.address.c_str());
        if (message.magic != kMagic ||
            !equalDigests(message.proof,
                          prove(options.token, hello.nonce, message)))
          return fail(DPC_PEER,
                      "rendezvous %s: rank 0 does not know this run's token",
                      options.address.c_str());
        if (message.status != DPC_OK) {
          message.text[sizeof message.text - 1] = 0;
          return failElsewhere(static_cast<dpc_status_t>(message.status), "%s",
                               message.text);
        }
        *outTicket = message.ticket;
        return DPC_OK;
      }
    }
    if (monotonicSeconds() >= deadline)
      return fail(DPC_PEER,
                  "rendezvous %s: no answer from rank 0 within %.0f s",
                  options.address.c_str(), options.timeoutSeconds);
  }
}

} // namespace dpc

// The handshake with which ranks meet. The client knocks, the server sends a
// challenge, the client a hello, and the server an answer when all ranks have come.
// Both sides prove by HMAC-SHA-256 that they know the run's token. The challenge has
// a proof too, so that a client at once leaves a listener that is not its server.

#include "runtime/src/comm/Rendezvous.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Endpoint.h"
#include "runtime/src/base/Hex.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Sockets.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <vector>

namespace dpc {

namespace {

constexpr uint64_t kMagic = 0x3176647263706401ull;
constexpr double kHandshakeSeconds = 2;
/// Most clients that have not proved yet that they know the token.
constexpr size_t kMostClients = 256;
/// Most clients that the server accepts before it looks at the others again.
constexpr int kMostAccepts = 64;
/// Most addresses of strangers that the server keeps for its message.
constexpr size_t kMostStrangers = 8;

// The structs below are sent as they are in memory. All hosts of a run have the byte
// order of their processors in common, because they run one compiled program.
struct Knock {
  uint64_t magic;
  Digest nonce;
};

struct Challenge {
  uint64_t magic;
  Digest nonce;
  Digest proof; // HMAC(token, client nonce, everything above)
};

/// The transport's name, padded with zeros.
using TransportField = std::array<char, 16>;

TransportField transportField(const RendezvousOptions &options) {
  TransportField field = {};
  std::snprintf(field.data(), field.size(), "%s", options.transport.c_str());
  return field;
}

struct Hello {
  uint64_t magic;
  uint32_t rank;
  uint32_t worldSize;
  Digest planHash;
  TransportField transport;
  Digest proof; // HMAC(token, server nonce, everything above)
};

struct Answer {
  uint64_t magic;
  int64_t status;
  char text[160]; // the reason of a refusal
  Digest proof;   // HMAC(token, client nonce, everything above)
};

Digest prove(const Digest &token, const Digest &nonce, const void *message, size_t bytes) {
  std::vector<uint8_t> buffer(nonce.begin(), nonce.end());
  const auto *first = static_cast<const uint8_t *>(message);
  buffer.insert(buffer.end(), first, first + bytes);
  return hmacSha256(token, buffer.data(), buffer.size());
}

/// The proof of a message, which is its last field.
template <typename Message>
Digest prove(const Digest &token, const Digest &nonce, const Message &message) {
  return prove(token, nonce, &message, offsetof(Message, proof));
}

} // namespace

dpc_status_t randomDigest(Digest *out) {
  if (::getrandom(out->data(), out->size(), 0) != static_cast<ssize_t>(out->size()))
    return fail(DPC_IO, "no random numbers: %s", std::strerror(errno));
  return DPC_OK;
}

namespace {

/// A connection whose knock or hello has not arrived completely.
struct Client {
  Fd fd;
  SocketAddress address;
  Knock knock;
  bool hasKnocked = false;
  Challenge challenge;
  Hello hello;
  size_t received = 0; ///< bytes of the knock, then of the hello
  double deadline = 0;
};

/// A rank that has proved that it knows the token.
struct Member {
  Fd fd;
  Digest nonce;
};

void answer(const RendezvousOptions &options, const Member &member, dpc_status_t status,
            const char *text) {
  Answer message{};
  message.magic = kMagic;
  message.status = status;
  std::snprintf(message.text, sizeof message.text, "%s", text);
  message.proof = prove(options.token, member.nonce, message);
  sendAll(member.fd.get(), &message, sizeof message, monotonicSeconds() + kHandshakeSeconds);
}

/// Checks a complete hello. Adds the client to `members` if it is valid. Fails if
/// the client knows the token but cannot take part. Ignores a client that does not
/// know the token: returns DPC_OK, and the caller closes the connection.
dpc_status_t admit(const RendezvousOptions &options, Client &client, std::vector<Member> &members,
                   size_t &joined) {
  const Hello &hello = client.hello;
  if (hello.magic != kMagic ||
      !equalDigests(hello.proof, prove(options.token, client.challenge.nonce, hello)))
    return DPC_OK;
  Member member{std::move(client.fd), client.knock.nonce};
  char text[160];
  const char *what = options.member;
  if (hello.worldSize != options.worldSize)
    std::snprintf(text, sizeof text, "%s %u was started with %s%u, %s %u with %u", what, hello.rank,
                  options.size, hello.worldSize, what, options.server, options.worldSize);
  else if (!equalDigests(hello.planHash, options.planHash))
    std::snprintf(text, sizeof text,
                  "%s %u runs another program than %s %u (their plan hashes are %s.. and %s..)",
                  what, hello.rank, what, options.server, toHex(hello.planHash.data(), 6).c_str(),
                  toHex(options.planHash.data(), 6).c_str());
  else if (hello.transport != transportField(options))
    std::snprintf(text, sizeof text, "%s %u has the transport %.15s, %s %u has %s", what,
                  hello.rank, hello.transport.data(), what, options.server,
                  options.transport.c_str());
  else if (hello.rank <= options.server || hello.rank >= options.worldSize)
    std::snprintf(text, sizeof text, "%s %u is not in %u..%u", what, hello.rank, options.server + 1,
                  options.worldSize - 1);
  else if (members[hello.rank].fd.valid())
    std::snprintf(text, sizeof text, "%s %u was started twice", what, hello.rank);
  else {
    members[hello.rank] = std::move(member);
    ++joined;
    return DPC_OK;
  }
  answer(options, member, DPC_INVALID, text);
  return fail(DPC_INVALID, "%s", text);
}

/// Answers a complete knock with a challenge. Returns false if it is none, or if the client does
/// not take the challenge.
bool challenge(const RendezvousOptions &options, Client &client, dpc_status_t *outStatus) {
  if (client.knock.magic != kMagic)
    return false;
  client.hasKnocked = true;
  client.received = 0;
  client.challenge.magic = kMagic;
  if ((*outStatus = randomDigest(&client.challenge.nonce)))
    return false;
  client.challenge.proof = prove(options.token, client.knock.nonce, client.challenge);
  return sendAll(client.fd.get(), &client.challenge, sizeof client.challenge, client.deadline);
}

/// Reads the part of a client's knock or hello that has arrived. Returns true if the
/// caller must remove the client, because its hello is complete, its connection ended,
/// or it is no rank. Sets `outStatus` to a failure if the run cannot start.
bool advance(const RendezvousOptions &options, Client &client, std::vector<Member> &members,
             size_t &joined, std::set<std::string> &strangers, dpc_status_t *outStatus) {
  char *to = client.hasKnocked ? reinterpret_cast<char *>(&client.hello)
                               : reinterpret_cast<char *>(&client.knock);
  const size_t wanted = client.hasKnocked ? sizeof client.hello : sizeof client.knock;
  const ssize_t n =
      ::recv(client.fd.get(), to + client.received, wanted - client.received, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return false;
  if (n <= 0) {
    // A client that has another token leaves as soon as it sees the challenge.
    if (client.hasKnocked && strangers.size() < kMostStrangers)
      strangers.insert(client.address.host());
    return true;
  }
  client.received += static_cast<size_t>(n);
  if (client.received < wanted)
    return false;
  if (!client.hasKnocked)
    return !challenge(options, client, outStatus);
  *outStatus = admit(options, client, members, joined);
  return true;
}

/// Accepts clients that wait. If there are too many, the oldest one makes room: a rank says all
/// at once, and a rank that is turned away before its hello tries again. `hasEnded` reads what a
/// client has sent.
void acceptClients(int listener, std::deque<Client> &clients,
                   const std::function<bool(Client &)> &hasEnded, dpc_status_t *outStatus) {
  for (int accepted = 0; accepted < kMostAccepts && *outStatus == DPC_OK; ++accepted) {
    Client client;
    client.address.length = sizeof client.address.storage;
    client.fd = Fd(::accept4(listener, client.address.get(), &client.address.length, SOCK_CLOEXEC));
    const bool isFull = !client.fd.valid() && (errno == EMFILE || errno == ENFILE);
    if (isFull && clients.empty())
      *outStatus = fail(DPC_IO, "rendezvous: %s", std::strerror(errno));
    if (!client.fd.valid() && (!isFull || clients.empty()))
      return;
    if (isFull || clients.size() >= kMostClients) {
      hasEnded(clients.front());
      clients.pop_front();
    }
    client.deadline = monotonicSeconds() + kHandshakeSeconds;
    if (client.fd.valid())
      clients.push_back(std::move(client));
  }
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

dpc_status_t makeToken(std::string *out) {
  Digest secret;
  if (dpc_status_t status = randomDigest(&secret))
    return status;
  *out = toHex(secret.data(), secret.size());
  return DPC_OK;
}

dpc_status_t rendezvousOptions(const dpc_comm_options_t &options, const char *transport,
                               RendezvousOptions *out) {
  constexpr double kLongestJoinSeconds = 60;
  if (std::strlen(transport) >= sizeof(TransportField))
    return fail(DPC_INVALID, "transport \"%s\": a name has at most %zu characters", transport,
                sizeof(TransportField) - 1);
  out->rank = options.rank;
  out->worldSize = options.world_size;
  out->transport = transport;
  out->address = options.rendezvous ? options.rendezvous : "";
  out->listenFd = options.listen_fd;
  out->timeoutSeconds =
      std::min(options.timeout_seconds > 0 ? options.timeout_seconds : kLongestJoinSeconds,
               kLongestJoinSeconds);
  if (options.plan_hash)
    std::memcpy(out->planHash.data(), options.plan_hash, out->planHash.size());
  if (options.token && !parseToken(options.token, &out->token))
    return fail(DPC_INVALID, "the run's token is not 64 hex digits");
  if (out->address.empty() && out->worldSize > 1)
    return fail(DPC_INVALID, "the ranks are on several hosts: %s",
                options.token ? "no variable says where they meet: set "
                                "DPC_RENDEZVOUS=tcp://HOST:PORT, a free port of rank 0's host"
                              : "they need the secret of the run, 64 hex digits in a file of mode "
                                "0600: set DPC_TOKEN_FILE");
  if (!options.token && out->worldSize > 1 && out->address.rfind("file://", 0) != 0)
    return fail(DPC_INVALID, "rendezvous %s needs the run's token", out->address.c_str());
  return DPC_OK;
}

std::string strangerText(const std::string &address) {
  return "a process at " + (address.empty() ? "this host" : address) +
         " came and left: its token may be another one";
}

/// Says which ranks did not come, and who came in place of them.
static dpc_status_t failAbsent(const RendezvousOptions &options, const std::vector<Member> &members,
                               const std::set<std::string> &strangers) {
  std::vector<std::string> absent;
  for (uint32_t r = options.server + 1; r < options.worldSize; ++r)
    if (!members[r].fd.valid())
      absent.push_back(std::string(options.member) + " " + std::to_string(r));
  std::string others;
  for (const std::string &address : strangers)
    others += "; " + strangerText(address);
  return fail(DPC_PEER, "%s did not join within %.0f s (%zu of %u %ss did)%s",
              listNames(absent).c_str(), options.timeoutSeconds, options.worldSize - absent.size(),
              options.worldSize, options.member, others.c_str());
}

dpc_status_t serveRendezvous(const RendezvousOptions &options, std::vector<Fd> *outConnections,
                             std::set<std::string> *outStrangers) {
  Fd listener(options.listenFd);
  if (!listener.valid())
    if (dpc_status_t status = listenAt(options.address, &listener))
      return status;
  ::fcntl(listener.get(), F_SETFL, ::fcntl(listener.get(), F_GETFL) | O_NONBLOCK);
  const double deadline = monotonicSeconds() + options.timeoutSeconds;
  std::vector<Member> members(options.worldSize);
  std::deque<Client> clients;
  std::set<std::string> strangers;
  size_t joined = options.server + 1;
  dpc_status_t status = DPC_OK;
  const auto hasEnded = [&](Client &client) {
    return advance(options, client, members, joined, strangers, &status);
  };
  while (joined < options.worldSize && status == DPC_OK) {
    const double now = monotonicSeconds();
    if (now >= deadline) {
      if (!outStrangers)
        status = failAbsent(options, members, strangers);
      break;
    }
    while (!clients.empty() && clients.front().deadline <= now)
      clients.pop_front();
    std::vector<pollfd> polled{{listener.get(), POLLIN, 0}};
    for (const Client &client : clients)
      polled.push_back({client.fd.get(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), 100) < 0 && errno != EINTR) {
      status = fail(DPC_IO, "rendezvous: %s", std::strerror(errno));
      break;
    }
    for (size_t i = clients.size(); i-- > 0 && status == DPC_OK;)
      if (polled[i + 1].revents && hasEnded(clients[i]))
        clients.erase(clients.begin() + static_cast<ptrdiff_t>(i));
    if (status == DPC_OK && (polled[0].revents & POLLIN))
      acceptClients(listener.get(), clients, hasEnded, &status);
  }
  stopListening(options.address);
  if (outStrangers)
    *outStrangers = std::move(strangers);
  char text[160];
  std::snprintf(text, sizeof text, "%s", status ? dpc_last_error() : "");
  for (const Member &member : members)
    if (member.fd.valid())
      answer(options, member, status, text);
  outConnections->resize(options.worldSize);
  for (uint32_t r = options.server + 1; r < options.worldSize; ++r)
    (*outConnections)[r] = std::move(members[r].fd);
  return status;
}

namespace {

/// Receives the server's answer to the client that knocked with `nonce`. Waits a
/// little longer than the server waits for missing ranks, so that the server's message
/// about missing ranks still arrives.
dpc_status_t receiveAnswer(const RendezvousOptions &options, int fd, const Digest &nonce,
                           double deadline) {
  deadline += kHandshakeSeconds;
  Answer message;
  if (!receiveAll(fd, &message, sizeof message, deadline)) {
    if (monotonicSeconds() < deadline)
      return fail(DPC_PEER,
                  "rendezvous %s: %s %u closed the connection: it died, or the "
                  "run's token differs",
                  options.address.c_str(), options.member, options.server);
    return fail(DPC_PEER,
                "rendezvous %s: %s %u is frozen: it was connected to, but "
                "did not answer",
                options.address.c_str(), options.member, options.server);
  }
  if (message.magic != kMagic || !equalDigests(message.proof, prove(options.token, nonce, message)))
    return fail(DPC_PEER, "rendezvous %s: %s %u does not know this run's token",
                options.address.c_str(), options.member, options.server);
  message.text[sizeof message.text - 1] = 0;
  return message.status == DPC_OK
             ? dpc_status_t(DPC_OK)
             : failElsewhere(static_cast<dpc_status_t>(message.status), "%s", message.text);
}

/// Knocks at a listener and reads its challenge. Returns DPC_PEER if the listener may be another
/// one than the server, and the server may still come: an earlier run with the same address may be
/// ending, or the server may listen at another port.
dpc_status_t greetServer(const RendezvousOptions &options, int fd, double deadline, Knock *outKnock,
                         Challenge *outChallenge) {
  outKnock->magic = kMagic;
  if (dpc_status_t status = randomDigest(&outKnock->nonce))
    return status;
  if (!sendAll(fd, outKnock, sizeof *outKnock, deadline) ||
      !receiveAll(fd, outChallenge, sizeof *outChallenge, deadline))
    return fail(DPC_PEER, "rendezvous %s: no answer from %s %u within %.0f s",
                options.address.c_str(), options.member, options.server, options.timeoutSeconds);
  if (outChallenge->magic != kMagic)
    return fail(DPC_PEER, "rendezvous %s: another service answers there", options.address.c_str());
  if (!equalDigests(outChallenge->proof, prove(options.token, outKnock->nonce, *outChallenge)))
    return fail(DPC_PEER, "rendezvous %s: the listener there does not know this run's token",
                options.address.c_str());
  return DPC_OK;
}

} // namespace

dpc_status_t joinRendezvous(const RendezvousOptions &options, Fd *outConnection) {
  Endpoint endpoint;
  if (dpc_status_t status = parseEndpoint(options.address, &endpoint))
    return status;
  const double deadline = monotonicSeconds() + options.timeoutSeconds;
  // Of several ports, a stranger may have one and say nothing: the client soon looks at the next
  // one, and waits longer at each silent port, because the server may be slow.
  double patience = endpoint.lastPort > endpoint.port ? 0.1 : kHandshakeSeconds;
  std::string mismatch; // a listener of dpc has another token
  for (;;) {
    Fd fd;
    Knock knock;
    Challenge challenge;
    const dpc_status_t connected = connectTo(options.address, deadline, &fd, [&](int candidate) {
      challenge = {};
      const double enough = std::min(deadline, monotonicSeconds() + patience);
      const dpc_status_t status = greetServer(options, candidate, enough, &knock, &challenge);
      if (monotonicSeconds() >= enough)
        patience = std::min(2 * patience, kHandshakeSeconds);
      if (status == DPC_PEER && challenge.magic == kMagic)
        mismatch = dpc_last_error();
      return status;
    });
    // The listener may have ended since, and then says less.
    if (connected == DPC_PEER && !mismatch.empty())
      return fail(DPC_PEER, "%s", mismatch.c_str());
    if (connected != DPC_OK)
      return connected;
    Hello hello{};
    hello.magic = kMagic;
    hello.rank = options.rank;
    hello.worldSize = options.worldSize;
    hello.planHash = options.planHash;
    hello.transport = transportField(options);
    hello.proof = prove(options.token, challenge.nonce, hello);
    if (sendAll(fd.get(), &hello, sizeof hello, deadline)) {
      if (dpc_status_t status = receiveAnswer(options, fd.get(), knock.nonce, deadline))
        return status;
      *outConnection = std::move(fd);
      return DPC_OK;
    }
    if (monotonicSeconds() >= deadline)
      return fail(DPC_PEER, "rendezvous %s: %s %u closed the connection", options.address.c_str(),
                  options.member, options.server);
  }
}

} // namespace dpc

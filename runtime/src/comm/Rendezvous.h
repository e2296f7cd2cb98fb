// How ranks meet: one of them listens (loopback TCP, or a Unix socket in a
// directory of mode 0700), the others connect, both sides prove that they know
// the run's token, and every rank gets the cards of all.
#ifndef DPC_RUNTIME_SRC_COMM_RENDEZVOUS_H
#define DPC_RUNTIME_SRC_COMM_RENDEZVOUS_H

#include "dpc/comm.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Sha256.h"

#include <cstring>
#include <string>
#include <vector>

namespace dpc {

struct RendezvousOptions {
  uint32_t rank = 0;
  uint32_t worldSize = 1;
  uint32_t server = 0;   ///< the rank that listens; those above it connect to it
  std::string transport; ///< all ranks must have the same
  std::string address;   ///< tcp://HOST:PORT (a loopback address) or file://DIRECTORY
  Digest token{};        ///< the run's secret; all zero only with file://, where the
                         ///< directory's mode protects
  Digest planHash{};
  int listenFd = -1; ///< the server, tcp://: a socket that already listens,
                     ///< else the address is bound
  double timeoutSeconds = 60;
};

/// Those of a communicator. DPC_INVALID when its token is none, or is missing
/// where the address needs one.
dpc_status_t rendezvousOptions(const dpc_comm_options_t &options, const char *transport,
                               RendezvousOptions *out);

/// What a rank tells all others when they meet. Each transport says what lies
/// in it, in a struct of its own.
class Card {
public:
  template <typename Content> static Card of(const Content &content) {
    static_assert(sizeof(Content) <= sizeof bytes);
    Card card;
    std::memcpy(card.bytes, &content, sizeof content);
    return card;
  }
  template <typename Content> Content as() const {
    static_assert(sizeof(Content) <= sizeof bytes);
    Content content;
    std::memcpy(&content, bytes, sizeof content);
    return content;
  }

private:
  uint8_t bytes[128] = {};
};

/// What a rank has when all have met: the cards of all ranks, by rank (those
/// below the server are empty), and connections: the server's to each rank
/// above it, a rank's to the server.
struct Meeting {
  std::vector<Card> cards;
  std::vector<Fd> connections;
};

/// The server: waits until every rank above it has proved itself, then sends
/// each the cards. A client without the token is dropped and does not count;
/// one of this run with another world size, plan hash or transport is
/// DPC_INVALID.
dpc_status_t serveRendezvous(const RendezvousOptions &options, const Card &own, Meeting *out);

/// The ranks above the server. DPC_PEER if it does not answer in time,
/// DPC_INVALID if it refuses this rank's plan.
dpc_status_t joinRendezvous(const RendezvousOptions &options, const Card &own, Meeting *out);

/// 64 hex digits to 32 bytes; false for anything else.
bool parseToken(const char *hex, Digest *outToken);

/// 32 bytes that nobody can guess.
dpc_status_t randomDigest(Digest *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_RENDEZVOUS_H

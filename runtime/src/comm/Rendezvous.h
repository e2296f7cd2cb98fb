// The meeting of ranks. One rank listens (loopback TCP, or a Unix socket in a
// directory of mode 0700) and the others connect to it. Both sides prove that
// they know the run's token, and every rank receives the cards of all.
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
  uint32_t server = 0;   ///< the rank that listens; all higher ranks connect to it
  std::string transport; ///< name of the transport; all ranks must have the same
  std::string address;   ///< tcp://HOST:PORT (a loopback address) or file://DIRECTORY
  Digest token{};        ///< the run's secret; all zero only with file://, where the directory's
                         ///< mode protects the run
  Digest planHash{};
  int listenFd = -1; ///< server with tcp://: a socket that already listens; otherwise the server
                     ///< binds the address
  double timeoutSeconds = 60;
};

/// The rendezvous options that follow from those of a communicator. DPC_INVALID
/// if the token is malformed, or missing although the address needs one.
dpc_status_t rendezvousOptions(const dpc_comm_options_t &options, const char *transport,
                               RendezvousOptions *out);

/// A record that a rank sends to all others when they meet. Each transport
/// defines its content in a struct of its own.
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

/// The result of a meeting, on each rank. `cards` has the card of every rank,
/// indexed by rank; those of ranks below the server are empty. `connections` of
/// the server has a socket to each higher rank, at that rank's index; other
/// ranks have one socket, to the server.
struct Meeting {
  std::vector<Card> cards;
  std::vector<Fd> connections;
};

/// The server's side. Waits until every higher rank has proved that it knows
/// the token, then sends the cards to each. A client without the token is
/// dropped and does not count. A client with the token but another world size,
/// plan hash or transport is DPC_INVALID.
dpc_status_t serveRendezvous(const RendezvousOptions &options, const Card &own, Meeting *out);

/// The side of the ranks above the server. DPC_PEER if the server does not
/// answer in time, DPC_INVALID if it refuses this rank's plan.
dpc_status_t joinRendezvous(const RendezvousOptions &options, const Card &own, Meeting *out);

/// Converts 64 hex digits to 32 bytes; false for any other text.
bool parseToken(const char *hex, Digest *outToken);

/// 32 random bytes from the kernel, fit for a secret.
dpc_status_t randomDigest(Digest *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_RENDEZVOUS_H

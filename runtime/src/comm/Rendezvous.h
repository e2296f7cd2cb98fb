// The meeting of ranks. One rank, the server, listens (TCP, or a Unix socket in a
// directory of mode 0700), and the other ranks connect to the server. Both sides
// prove that they know the run's token.
#ifndef DPC_RUNTIME_SRC_COMM_RENDEZVOUS_H
#define DPC_RUNTIME_SRC_COMM_RENDEZVOUS_H

#include "dpc/comm.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Sha256.h"

#include <set>
#include <string>
#include <vector>

namespace dpc {

struct RendezvousOptions {
  const char *member = "rank", *size = "world size "; ///< for messages: what meets, and how many
  uint32_t rank = 0;
  uint32_t worldSize = 1;
  uint32_t server = 0;   ///< the rank that listens; all higher ranks connect to this rank
  std::string transport; ///< name of the transport, which must be equal on all ranks
  std::string address;   ///< an endpoint (Endpoint.h)
  Digest token{};        ///< the run's secret; may be all zero with file://, because the mode of
                         ///< the directory then keeps other users out
  Digest planHash{};
  int listenFd = -1; ///< server with tcp://: a socket that already listens; otherwise the server
                     ///< binds the address
  double timeoutSeconds = 60;
};

/// Derives the rendezvous options from the options of a communicator. Returns
/// DPC_INVALID if the token is malformed, or if a run of several ranks has no
/// token and its address is not file://.
dpc_status_t rendezvousOptions(const dpc_comm_options_t &options, const char *transport,
                               RendezvousOptions *out);

/// Meets the other ranks as the server. Waits until every higher rank has proved
/// that it knows the token. `outConnections`, indexed by rank, gets a socket to each
/// higher rank. Ignores clients that do not know the token. Returns DPC_INVALID if a
/// client knows the token but has another world size, plan hash or transport, or a
/// wrong rank. Returns DPC_PEER if a rank does not come in time. With `outStrangers`, a
/// rank that does not come is no failure: its socket is invalid. `outStrangers` then gets the
/// addresses of processes that knocked as ranks do, but went away when they saw that this server
/// has another token than they have.
dpc_status_t serveRendezvous(const RendezvousOptions &options, std::vector<Fd> *outConnections,
                             std::set<std::string> *outStrangers = nullptr);

/// Describes an address of `outStrangers` in messages.
std::string strangerText(const std::string &address);

/// Meets the other ranks as a client of the server, and returns a socket to the server.
/// Returns DPC_PEER if the server does not answer in time, and DPC_INVALID if it
/// refuses this rank, for example because the plan hashes differ.
dpc_status_t joinRendezvous(const RendezvousOptions &options, Fd *outConnection);

/// Converts 64 hex digits to 32 bytes. Returns false for any other text.
bool parseToken(const char *hex, Digest *outToken);

/// Makes the secret of a run: 64 hex digits.
dpc_status_t makeToken(std::string *out);

/// Gets 32 random bytes from the kernel, which are good enough for a secret.
dpc_status_t randomDigest(Digest *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_RENDEZVOUS_H

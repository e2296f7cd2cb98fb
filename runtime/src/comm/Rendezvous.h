// How ranks meet: rank 0 listens (loopback TCP, or a Unix socket in a directory
// of mode 0700), the others connect, both sides prove that they know the run's
// token, and rank 0 hands out a ticket to the shared memory.
#ifndef DPC_RUNTIME_SRC_COMM_RENDEZVOUS_H
#define DPC_RUNTIME_SRC_COMM_RENDEZVOUS_H

#include "dpc/status.h"
#include "runtime/src/base/Sha256.h"

#include <string>

namespace dpc {

struct RendezvousOptions {
  uint32_t rank = 0;
  uint32_t worldSize = 1;
  std::string
      address;    ///< tcp://HOST:PORT (a loopback address) or file://DIRECTORY
  Digest token{}; ///< the run's secret; all zero only with file://, where the
                  ///< directory's mode protects
  Digest planHash{};
  int listenFd = -1; ///< rank 0, tcp://: a socket that already listens, else
                     ///< the address is bound
  double timeoutSeconds = 60;
};

/// Where the other ranks find rank 0's shared memory: /proc/<pid>/fd/<fd>.
struct Ticket {
  uint64_t pid = 0;
  uint64_t fd = 0;
  uint64_t bytes = 0;
};

/// Rank 0: waits until every other rank has proved itself, then sends each the
/// ticket. A client without the token is dropped and does not count; one of
/// this run with another world size or plan hash is DPC_INVALID.
dpc_status_t serveRendezvous(const RendezvousOptions &options,
                             const Ticket &ticket);

/// Ranks 1 and up. DPC_PEER if rank 0 does not answer in time, DPC_INVALID if
/// it refuses this rank's plan.
dpc_status_t joinRendezvous(const RendezvousOptions &options,
                            Ticket *outTicket);

/// 64 hex digits to 32 bytes; false for anything else.
bool parseToken(const char *hex, Digest *outToken);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_RENDEZVOUS_H

// The ranks of a run after they have met and before they have a transport: every rank has a
// connection to rank 0, through which the ranks exchange small records.
#ifndef DPC_RUNTIME_SRC_COMM_LOBBY_H
#define DPC_RUNTIME_SRC_COMM_LOBBY_H

#include "runtime/src/comm/Rendezvous.h"

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace dpc {

class Lobby {
public:
  /// Meets the other ranks. `transport` must be equal on all ranks. A run of one rank needs no
  /// other one, and meets at once.
  /// With `outStrangers`, ranks that do not come are no failure (serveRendezvous): they have
  /// records of zeros.
  dpc_status_t open(const dpc_comm_options_t &options, const char *transport,
                    std::set<std::string> *outStrangers = nullptr);

  /// Gives every rank the records of all ranks, by rank. Every rank must call it. A record is sent
  /// as it is in memory.
  template <typename Record> dpc_status_t exchange(const Record &own, std::vector<Record> *outAll) {
    static_assert(std::is_trivially_copyable_v<Record>);
    outAll->resize(meet.worldSize);
    std::memcpy(&(*outAll)[meet.rank], &own, sizeof own);
    return exchange(outAll->data(), sizeof own);
  }

  uint32_t rank() const { return meet.rank; }
  uint32_t worldSize() const { return meet.worldSize; }
  /// The address at which the other ranks can reach this one: the one that the options name, or the
  /// one with which this rank has reached rank 0, as a number. On rank 0, and if the ranks met in a
  /// directory, it is "".
  const std::string &host() const { return ownHost; }
  /// The options of the meeting, for further meetings of the same run.
  const RendezvousOptions &options() const { return meet; }
  /// By rank: on rank 0 the connections to all other ranks, else the one to rank 0.
  std::vector<Fd> takeConnections() { return std::move(connections); }

private:
  dpc_status_t exchange(void *all, size_t bytes);

  RendezvousOptions meet;
  std::vector<Fd> connections;
  std::string ownHost;
};

/// The time at which a rank that has joined, and sends no record, counts as frozen.
double recordDeadline();

/// The failure of a run whose rank `rank` sends or takes no record until `deadline`.
dpc_status_t failForLost(uint32_t rank, double deadline);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_LOBBY_H

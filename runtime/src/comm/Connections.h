#ifndef DPC_RUNTIME_SRC_COMM_CONNECTIONS_H
#define DPC_RUNTIME_SRC_COMM_CONNECTIONS_H

#include "runtime/src/comm/Lobby.h"

namespace dpc {

/// Opens a socket to each other rank, for transports that send messages over
/// sockets. `outSockets` is indexed by rank. All ranks must call it, and none may use the lobby
/// after it. Fails in the same cases as serveRendezvous and joinRendezvous.
dpc_status_t connectRanks(Lobby &lobby, std::vector<Fd> *outSockets);

/// Sends `bytes` bytes of `own` to each other rank, and receives as many from it into `others`.
/// Both are indexed by rank. Nothing else may be under way on the sockets of connectRanks. Every
/// rank must call it. Fails if a rank dies or is frozen.
dpc_status_t swapRecords(const std::vector<Fd> &sockets, const void *own, void *others,
                         size_t bytes);

template <typename Record>
dpc_status_t swapRecords(const std::vector<Fd> &sockets, const std::vector<Record> &own,
                         std::vector<Record> *outOthers) {
  static_assert(std::is_trivially_copyable_v<Record>);
  outOthers->assign(sockets.size(), Record{});
  return swapRecords(sockets, own.data(), outOthers->data(), sizeof(Record));
}

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_CONNECTIONS_H

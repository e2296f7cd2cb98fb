#ifndef DPC_RUNTIME_SRC_SESSION_RANKZEROMEMORY_H
#define DPC_RUNTIME_SRC_SESSION_RANKZEROMEMORY_H

#include "runtime/src/data/MemoryMaker.h"
#include "runtime/src/session/Session.h"

namespace dpc {

/// Memory that rank 0 fills for all ranks, for example with inflated data. Each host has one copy,
/// which all its ranks map (`dpc_comm_t::hosts`). Rank 0 sends the copies in messages.
class RankZeroMemory : public MemoryMaker {
public:
  explicit RankZeroMemory(dpc_session &session) : session(session) {}
  dpc_status_t make(size_t bytes, const Fill &fill, Mapping *out) override;
  /// Whether this rank checks the contents of its data files. One rank of each host does,
  /// because files of the same name may differ on two hosts.
  bool checks() const override;

private:
  dpc_session &session;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_RANKZEROMEMORY_H

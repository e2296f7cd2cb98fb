#ifndef DPC_RUNTIME_SRC_SESSION_RANKZEROMEMORY_H
#define DPC_RUNTIME_SRC_SESSION_RANKZEROMEMORY_H

#include "runtime/src/data/MemoryMaker.h"
#include "runtime/src/session/Session.h"

namespace dpc {

/// Memory that rank 0 fills for all ranks, for example with inflated data. If
/// ranks can open each other's files (`dpc_comm_t::hosts`), all ranks map one copy.
/// Otherwise rank 0 sends a copy to each rank in messages.
class RankZeroMemory : public MemoryMaker {
public:
  explicit RankZeroMemory(dpc_session &session) : session(session) {}
  dpc_status_t make(size_t bytes, const Fill &fill, Mapping *out) override;
  /// Whether this rank checks the contents of its data files. Rank 0 always does.
  /// If ranks may be on different hosts, every rank does, because files of the
  /// same name may then differ.
  bool checks() const override;

private:
  dpc_session &session;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_RANKZEROMEMORY_H

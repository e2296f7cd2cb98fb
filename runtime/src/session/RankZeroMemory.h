#ifndef DPC_RUNTIME_SRC_SESSION_RANKZEROMEMORY_H
#define DPC_RUNTIME_SRC_SESSION_RANKZEROMEMORY_H

#include "runtime/src/data/MemoryMaker.h"
#include "runtime/src/session/Session.h"

namespace dpc {

/// Memory that rank 0 fills for all ranks, for example with inflated data. If
/// the ranks see each other's memory they map a single copy, otherwise each
/// gets a copy in messages.
class RankZeroMemory : public MemoryMaker {
public:
  explicit RankZeroMemory(dpc_session &session) : session(session) {}
  dpc_status_t make(size_t bytes, const Fill &fill, Mapping *out) override;
  /// True on rank 0, and on all ranks if they may be on different hosts: files
  /// of the same name may then differ, so each rank checks its own.
  bool checks() const override;

private:
  dpc_session &session;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_RANKZEROMEMORY_H

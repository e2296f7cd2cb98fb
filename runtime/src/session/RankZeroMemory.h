#ifndef DPC_RUNTIME_SRC_SESSION_RANKZEROMEMORY_H
#define DPC_RUNTIME_SRC_SESSION_RANKZEROMEMORY_H

#include "runtime/src/data/MemoryMaker.h"
#include "runtime/src/session/Session.h"

namespace dpc {

/// Memory that rank 0 fills for all, such as inflated data. Ranks that see each
/// other's memory map one copy; others get their own by messages.
class RankZeroMemory : public MemoryMaker {
public:
  explicit RankZeroMemory(dpc_session &session) : session(session) {}
  dpc_status_t make(size_t bytes, const Fill &fill, Mapping *out) override;
  /// Ranks that may lie on other hosts may read other files of the same name:
  /// each checks its own.
  bool checks() const override;

private:
  dpc_session &session;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_RANKZEROMEMORY_H

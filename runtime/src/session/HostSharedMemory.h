#ifndef DPC_RUNTIME_SRC_SESSION_HOSTSHAREDMEMORY_H
#define DPC_RUNTIME_SRC_SESSION_HOSTSHAREDMEMORY_H

#include "runtime/src/data/SharedFill.h"
#include "runtime/src/session/Session.h"

namespace dpc {

/// Memory that rank 0 fills and all ranks of the host map: one copy of inflated
/// data.
class HostSharedMemory : public MemoryMaker {
public:
  explicit HostSharedMemory(dpc_session &session) : session(session) {}
  dpc_status_t make(size_t bytes, const Fill &fill, Mapping *out) override;
  bool checks() const override { return session.options.rank == 0; }

private:
  dpc_session &session;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_HOSTSHAREDMEMORY_H

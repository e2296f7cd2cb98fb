// What a rank finds out about itself and its host when it checks whether a run could start.
#ifndef DPC_RUNTIME_SRC_CHECK_FINDINGS_H
#define DPC_RUNTIME_SRC_CHECK_FINDINGS_H

#include "dpc/comm.h"
#include "runtime/src/base/Sha256.h"
#include "runtime/src/check/Check.h"
#include "runtime/src/session/Session.h"

namespace dpc {

// Ranks send these records to each other as they are in memory.

/// The first record. It has the same layout in all versions of the runtime, so that ranks with two
/// versions can tell each other.
struct Arrival {
  uint32_t isHere; ///< 0: the rank did not come, and all other fields are zero
  char host[64], runtime[28];
};

/// To how many other ranks a rank makes a trial connection. Nobody accepts these, and a listener
/// queues only so many.
constexpr uint32_t kMostCalls = 100;

struct Findings {
  dpc_status_t status; ///< why this rank cannot take part, with `text`; DPC_OK: no reason is known
  char text[512];
  char comm[16];        ///< the value of --comm
  char engine[64];      ///< name and version of MPI or NCCL; "" if none is used
  char device[64];      ///< name of the CUDA device; "" if none is used
  uint8_t deviceId[16]; ///< which no other device has
  char address[64];     ///< at which this rank listens for others; "": it does not
  uint32_t files;       ///< number of files that the rank can read
  /// At i: errno if this rank cannot reach the address of the rank that is i + 1 below it, else 0.
  int32_t unreached[kMostCalls];
  uint64_t needed, available; ///< memory of the plan, and free memory of the host, in bytes
  uint64_t forLibraries;      ///< part of `available` that a plan leaves to CUDA's libraries
  Digest plan;
};

/// The arrival of this rank.
Arrival ownArrival();

/// Fills all fields but the addresses. `hosts` is that of dpc_comm_t.
Findings findOut(const dpc_session &session, const CheckRequest &request, const uint32_t *hosts);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECK_FINDINGS_H

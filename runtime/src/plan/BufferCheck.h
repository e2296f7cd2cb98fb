#ifndef DPC_RUNTIME_SRC_PLAN_BUFFERCHECK_H
#define DPC_RUNTIME_SRC_PLAN_BUFFERCHECK_H

#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/plan/PlanNames.h"

#include <vector>

namespace dpc::plan {

/// A value that the host reads after an entry, and the buffer that contains it.
struct Result {
  const char *name;
  uint32_t buffer;
  uint32_t entries; ///< entries that write it, as bits 1 << DPC_ENTRY_*
  ByteRange range;
};

/// Checks a rank's table of buffers: against its spaces, for overlaps, and
/// against the records of the values that the host fills and reads. `out`
/// receives the values that the host reads.
dpc_status_t checkBuffers(const dpc_program_t &program, uint32_t rank, std::vector<Result> *out);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_BUFFERCHECK_H

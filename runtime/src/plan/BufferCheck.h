#ifndef DPC_RUNTIME_SRC_PLAN_BUFFERCHECK_H
#define DPC_RUNTIME_SRC_PLAN_BUFFERCHECK_H

#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/plan/PlanNames.h"

#include <vector>

namespace dpc::plan {

/// What the host reads after an entry: it lies in this buffer.
struct Result {
  const char *name;
  uint32_t buffer;
  uint32_t entries; ///< bits 1 << DPC_ENTRY_*: those that write it
  ByteRange range;
};

/// Checks a rank's table of buffers against its spaces, against itself and
/// against the records of what the host fills and reads. `out` gets the latter.
dpc_status_t checkBuffers(const dpc_program_t &program, uint32_t rank, std::vector<Result> *out);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_BUFFERCHECK_H

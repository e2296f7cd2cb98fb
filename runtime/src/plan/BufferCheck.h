#ifndef DPC_RUNTIME_SRC_PLAN_BUFFERCHECK_H
#define DPC_RUNTIME_SRC_PLAN_BUFFERCHECK_H

#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/plan/PlanNames.h"

#include <vector>

namespace dpc::plan {

/// A value that the host reads after an entry, and the logical buffer that contains
/// the value.
struct Result {
  const char *name;
  uint32_t buffer;
  uint32_t entries; ///< the entries that write the value: a sum of 1 << DPC_ENTRY_*
  ByteRange range;
};

/// Checks a rank's table of logical buffers (rule 2 of checkPlan). Buffers must lie
/// in their spaces and may overlap only if both are temporary. The values that the
/// host fills or reads must lie in buffers of the right kind. `out` receives the
/// values that the host reads.
dpc_status_t checkBuffers(const dpc_program_t &program, uint32_t rank, std::vector<Result> *out);

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_BUFFERCHECK_H

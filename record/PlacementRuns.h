#ifndef DPC_RECORD_PLACEMENTRUNS_H
#define DPC_RECORD_PLACEMENTRUNS_H

#include "dialects/Dist/IR/Layout.h"
#include "dpc/records.h"

#include <vector>

namespace dpc {

/// Computes the runs of a placement record: the positions of a buffer's elements in the
/// logical tensor. The buffer has elements [low, high) of the shard that the device at
/// `coordinates` has. `low` and `high` count the elements of the shard in its own order,
/// including padding.
std::vector<dpc_run_t> placementRuns(const dist::Layout &layout,
                                     llvm::ArrayRef<int64_t> coordinates,
                                     const dist::MeshShape &mesh, int64_t low, int64_t high);

} // namespace dpc

#endif // DPC_RECORD_PLACEMENTRUNS_H

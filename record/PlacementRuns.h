#ifndef DPC_RECORD_PLACEMENTRUNS_H
#define DPC_RECORD_PLACEMENTRUNS_H

#include "dialects/Dist/IR/Layout.h"
#include "dpc/records.h"

#include <vector>

namespace dpc {

/// The runs of a placement record, for a buffer that holds elements [low, high)
/// of the shard of the device at `coordinates`. The runs say where these
/// elements are in the logical tensor. Elements are numbered in the shard's
/// order, including padding.
std::vector<dpc_run_t> placementRuns(const dist::Layout &layout,
                                     llvm::ArrayRef<int64_t> coordinates,
                                     const dist::MeshShape &mesh, int64_t low, int64_t high);

} // namespace dpc

#endif // DPC_RECORD_PLACEMENTRUNS_H

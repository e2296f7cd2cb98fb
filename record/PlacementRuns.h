#ifndef DPC_RECORD_PLACEMENTRUNS_H
#define DPC_RECORD_PLACEMENTRUNS_H

#include "dialects/Dist/IR/Layout.h"
#include "dpc/records.h"

#include <vector>

namespace dpc {

/// The runs of a placement record: where elements [low, high) of the shard, which
/// a buffer holds from its beginning on, lie in the logical tensor. The shard is
/// that of the device at `coordinates`; elements are numbered as it has them,
/// padding included.
std::vector<dpc_run_t> placementRuns(const dist::Layout &layout,
                                     llvm::ArrayRef<int64_t> coordinates,
                                     const dist::MeshShape &mesh, int64_t low, int64_t high);

} // namespace dpc

#endif // DPC_RECORD_PLACEMENTRUNS_H

#ifndef DPC_PASSES_SHARDEDUPDATES_READONLYSTATE_H
#define DPC_PASSES_SHARDEDUPDATES_READONLYSTATE_H

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Shards over `axes` all parameters and buffers that no function writes, such as frozen parameters
/// and the parameters of an inference program. The state lies in flat storage, in buckets that
/// close at `limits` bytes. A bucket is gathered before the first op of a forward pass that reads
/// it, and before the first other op that reads it (StorageArguments). Some buckets, of at most
/// `keepBytes` in total, are gathered once and then stay whole. State stays as it is if its
/// elements are not floats, or if it is already sharded over one of the axes.
mlir::LogicalResult cutReadOnlyState(mlir::ModuleOp module, mlir::ArrayRef<std::string> axes,
                                     mlir::ArrayRef<int64_t> limits, int64_t keepBytes);

} // namespace dpc

#endif // DPC_PASSES_SHARDEDUPDATES_READONLYSTATE_H

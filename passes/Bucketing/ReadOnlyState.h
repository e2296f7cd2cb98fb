#ifndef DPC_PASSES_BUCKETING_READONLYSTATE_H
#define DPC_PASSES_BUCKETING_READONLYSTATE_H

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Cuts what no function writes, frozen parameters and those of an inference program,
/// over `axes`: it lies in flat storage of buckets that close at `limits` bytes, and is
/// gathered where it is read (StorageArguments), or kept whole from then on: up to
/// `keepBytes` of it. Left alone: what is no float, or is cut
/// over one of the axes already.
mlir::LogicalResult cutReadOnlyState(mlir::ModuleOp module, mlir::ArrayRef<std::string> axes,
                                     mlir::ArrayRef<int64_t> limits, int64_t keepBytes);

} // namespace dpc

#endif // DPC_PASSES_BUCKETING_READONLYSTATE_H

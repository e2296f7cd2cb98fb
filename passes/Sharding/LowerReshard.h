#ifndef DPC_PASSES_SHARDING_LOWERRESHARD_H
#define DPC_PASSES_SHARDING_LOWERRESHARD_H

#include "dialects/NN/Partition/Partition.h"

namespace dpc {

/// Turns the shard `local` of a tensor laid out as `from` into its shard under
/// `to`: partial axes are reduced, dimensions that lie differently are gathered
/// and then cut anew. Neither layout may use a sequential axis the other does
/// not. What is gathered over several axes or has holes is put in order by a
/// gather with constant indices. Collectives are over the mesh named `mesh`,
/// which is that of `context`.
mlir::Value lowerReshard(PartitionContext &context, mlir::FlatSymbolRefAttr mesh, mlir::Value local,
                         const dist::Layout &from, const dist::Layout &to);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_LOWERRESHARD_H

// The enums of the dialect `dist`. This header does not need MLIR, so that the layout algebra,
// which works without IR, can use the enums too.

#ifndef DPC_DIALECTS_DIST_IR_DISTENUMS_H
#define DPC_DIALECTS_DIST_IR_DISTENUMS_H

#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

#include "dialects/Dist/IR/DistEnums.h.inc"

namespace dpc {
enum class LoopKind; // dialects/Interfaces/ShardingRule.h

namespace dist {

/// If the devices of a group divide a loop of kind `kind` among them, each device gets a partial
/// result. Returns the reduction that combines the partial results, e.g. Reduction::sum for
/// LoopKind::sum. Returns nullopt if there are no partial results, because the loop is parallel, or
/// if devices cannot divide the loop.
std::optional<Reduction> reductionOf(LoopKind kind);

} // namespace dist
} // namespace dpc

#endif // DPC_DIALECTS_DIST_IR_DISTENUMS_H

// The enums of the dialect `dist`. They are plain C++, so the layout algebra uses them too.

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

/// The reduction that combines the values of the devices after a loop of kind `kind` is cut over
/// them. None if cutting the loop leaves nothing to combine, or if the loop must not be cut.
std::optional<Reduction> reductionOf(LoopKind kind);

} // namespace dist
} // namespace dpc

#endif // DPC_DIALECTS_DIST_IR_DISTENUMS_H

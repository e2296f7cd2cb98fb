// The text of the enums of the dialect `dist`, and the reductions of loops.

#include "dialects/Dist/IR/DistEnums.h"

#include "dialects/Interfaces/ShardingRule.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace dpc;

#include "dialects/Dist/IR/DistEnums.cpp.inc"

std::optional<dist::Reduction> dist::reductionOf(LoopKind kind) {
  switch (kind) {
  case LoopKind::sum:
    return Reduction::sum;
  case LoopKind::max:
    return Reduction::max;
  case LoopKind::min:
    return Reduction::min;
  case LoopKind::parallel:
  case LoopKind::whole:
    return std::nullopt;
  }
  llvm_unreachable("unknown kind of loop");
}

#ifndef DPC_PASSES_SHARDING_SEARCH_WRITELAYOUTS_H
#define DPC_PASSES_SHARDING_SEARCH_WRITELAYOUTS_H

#include "passes/Sharding/Search/LayoutBoundary.h"

namespace dpc {

/// Writes an assignment into the function of `boundary`: the layouts of arguments, results and
/// ops, and the modelled cost (`dist.cost`). Adds a `dist.reshard` wherever an op reads a value
/// in another layout than the one in which the value is made. Adds the layouts of arguments to
/// `known`. With `explain`, remarks report the reshards.
void writeLayouts(const LayoutBoundary &boundary, const ProgramLoops &program,
                  const Assignment &assignment, const dist::MeshShape &mesh, KnownLayouts &known,
                  bool explain);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_WRITELAYOUTS_H

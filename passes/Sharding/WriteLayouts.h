#ifndef DPC_PASSES_SHARDING_WRITELAYOUTS_H
#define DPC_PASSES_SHARDING_WRITELAYOUTS_H

#include "passes/Sharding/LayoutBoundary.h"

namespace dpc {

/// Writes an assignment into the function of `boundary`: layouts of arguments, results and ops, a
/// `dist.reshard` wherever an op reads a value in another layout than it was made in, and the
/// modelled cost (`dist.cost`). Adds the layouts of arguments to `known`. With `explain`, remarks
/// report the reshards.
void writeLayouts(const LayoutBoundary &boundary, const ProgramLoops &program,
                  const Assignment &assignment, const dist::MeshShape &mesh, KnownLayouts &known,
                  bool explain);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_WRITELAYOUTS_H

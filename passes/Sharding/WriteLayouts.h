#ifndef DPC_PASSES_SHARDING_WRITELAYOUTS_H
#define DPC_PASSES_SHARDING_WRITELAYOUTS_H

#include "passes/Sharding/LayoutBoundary.h"

namespace dpc {

/// Writes an assignment into the boundary's function: layouts of arguments, results and
/// ops, a `dist.reshard` wherever a value is read in another layout than it was made in,
/// and what the model expects (`dist.cost`). What was decided about arguments is known
/// from then on. With `explain`, remarks say what is resharded.
void writeLayouts(const LayoutBoundary &boundary, const ProgramLoops &program,
                  const Assignment &assignment, const dist::MeshShape &mesh, KnownLayouts &known,
                  bool explain);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_WRITELAYOUTS_H

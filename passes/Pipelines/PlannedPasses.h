#ifndef DPC_PASSES_PIPELINES_PLANNEDPASSES_H
#define DPC_PASSES_PIPELINES_PLANNEDPASSES_H

#include "planning/Plan.h"

#include "mlir/Pass/PassManager.h"

namespace dpc {

/// Adds the passes from level `step`, with its machine, to `placed`, as `plan` asks for them.
/// `explain` makes them say in remarks what they decide.
void addPlacingPasses(mlir::OpPassManager &manager, const ProgramPlan &plan, bool explain);

/// Adds the passes from level `local` to `scheduled`, as `plan` asks for them. With `oneRegion`,
/// collectives work as fast on memory that ranks share as kernels do, so all buffers may lie
/// there.
void addSchedulingPasses(mlir::OpPassManager &manager, const ProgramPlan &plan, bool oneRegion,
                         bool explain);

} // namespace dpc

#endif // DPC_PASSES_PIPELINES_PLANNEDPASSES_H

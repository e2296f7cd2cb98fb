#ifndef DPC_PASSES_PIPELINES_PLANNEDPASSES_H
#define DPC_PASSES_PIPELINES_PLANNEDPASSES_H

#include "planning/Plan.h"
#include "targets/Target.h"

#include "mlir/Pass/PassManager.h"

namespace dpc {

/// Adds the passes from level `step`, with its machine, to `placed`, as `plan` asks for them.
/// `explain` makes them say in remarks what they decide.
void addPlacingPasses(mlir::OpPassManager &manager, const ProgramPlan &plan, bool explain);

/// Adds the passes from level `local` to `ordered`, as `plan` asks for them.
void addOrderingPasses(mlir::OpPassManager &manager, const ProgramPlan &plan, bool explain);

/// Whether collectives work as fast on memory that ranks share as kernels do, so that all buffers
/// may lie there. On the host, such memory has small pages, unless the system is set otherwise.
/// Those cost more time than the bytes are worth (docs/performance/memory.md).
bool usesOneRegion(const Target &target);

/// Adds the passes from level `ordered` to a memory plan, as `plan` asks for them, without code.
/// See usesOneRegion for `oneRegion`.
void addMemoryPasses(mlir::OpPassManager &manager, const ProgramPlan &plan, bool oneRegion,
                     bool explain);

/// Adds the passes from a memory plan to level `scheduled`, as `plan` asks for them.
void addCodePasses(mlir::OpPassManager &manager, const ProgramPlan &plan);

/// Adds the dialects of all passes that a plan may ask for.
void addDialectsOfPlans(mlir::DialectRegistry &registry);

} // namespace dpc

#endif // DPC_PASSES_PIPELINES_PLANNEDPASSES_H

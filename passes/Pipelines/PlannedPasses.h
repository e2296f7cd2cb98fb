#ifndef DPC_PASSES_PIPELINES_PLANNEDPASSES_H
#define DPC_PASSES_PIPELINES_PLANNEDPASSES_H

#include "planning/Plan.h"
#include "targets/Target.h"

#include "mlir/Pass/PassManager.h"

namespace dpc {

/// Adds the passes that take a module from level `step` to `placed`, as `plan` requests. The
/// module must have its machine (`dist.machine`). With `explain`, the passes report their
/// decisions in remarks.
void addPlacingPasses(mlir::OpPassManager &manager, const ProgramPlan &plan, bool explain);

/// Adds the passes that a program of level `local` needs before it can be ordered: they advance
/// sums, and cut the program into the stages of a pipeline if the plan has one.
void addCuttingPasses(mlir::OpPassManager &manager, const ProgramPlan &plan, bool explain);

/// Adds the passes that take a module, or the module of a stage, from addCuttingPasses() to level
/// `ordered`, as `plan` requests.
void addOrderingPasses(mlir::OpPassManager &manager, const ProgramPlan &plan, bool explain);

/// Whether all buffers may lie in the memory that collectives access, because kernels are as fast
/// there as in other memory. This holds for CUDA devices. On the host, memory that ranks share
/// has small pages, unless the system is set otherwise. There, small pages would cost more time
/// than the saved bytes are worth (docs/performance/memory.md).
bool usesOneRegion(const Target &target);

/// Adds the passes that order the stages of a pipeline together. They run after addOrderingPasses()
/// has ordered each stage.
void addSchedulingPasses(mlir::OpPassManager &manager, const ProgramPlan &plan);

/// Adds the passes that take a module, or the module of a stage, from level `ordered` to a memory
/// plan, without code, as
/// `plan` requests. `oneRegion`: see usesOneRegion.
void addMemoryPasses(mlir::OpPassManager &manager, const ProgramPlan &plan, bool oneRegion,
                     bool explain);

/// Adds the passes that take a module, or the module of a stage, from a memory plan to level
/// `scheduled`, as `plan` requests.
void addCodePasses(mlir::OpPassManager &manager, const ProgramPlan &plan);

/// Adds the dialects of all passes that a plan can request.
void addDialectsOfPlans(mlir::DialectRegistry &registry);

} // namespace dpc

#endif // DPC_PASSES_PIPELINES_PLANNEDPASSES_H

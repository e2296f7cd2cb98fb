// Runs the passes that the plan of a module chooses.

#include "passes/Pipelines/Passes.h"

#include "passes/Pipelines/PlannedPasses.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/PlanAttr.h"
#include "dialects/Dist/IR/Stages.h"
#include "passes/Machine/MachineTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_FOLLOWPLAN
#include "passes/Pipelines/Passes.h.inc"
} // namespace dpc

using namespace dpc;

/// The facts about the program and its target that a plan must agree with.
static PlannedProgram factsOf(ModuleOp module, bool isOnDevice) {
  PlannedProgram program;
  program.trains = llvm::any_of(dist::programsOf(module), [](dist::RankProgram each) {
    return each.module.lookupSymbol("step") != nullptr;
  });
  program.hasMatrixUnits = isOnDevice;
  for (auto mesh : module.getOps<dist::MeshOp>()) {
    program.mesh.emplace();
    for (const dist::MeshAxis &axis : mesh.getShape().axes)
      if (!axis.sequential)
        program.mesh->emplace_back(axis.name, axis.size);
  }
  return program;
}

namespace {
struct FollowPlanPass : dpc::impl::FollowPlanBase<FollowPlanPass> {
  using FollowPlanBase::FollowPlanBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    addDialectsOfPlans(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (level != "placed" && level != "ordered" && level != "scheduled") {
      module.emitError("no plan chooses the passes of level '") << level << "'";
      return signalPassFailure();
    }
    FailureOr<ProgramPlan> plan = dist::getPlan(module);
    const Target *target = getTarget(module);
    if (failed(plan) || !target)
      return signalPassFailure();
    const bool isOnDevice = target->getFunctionForm() == FunctionForm::gridTable;
    if (llvm::Error error = plan->verify(factsOf(module, isOnDevice))) {
      module.emitError("its plan: ") << llvm::toString(std::move(error));
      return signalPassFailure();
    }
    // The first and the last passes run on the complete module, the others on the program of each
    // stage.
    OpPassManager whole(ModuleOp::getOperationName()), each(ModuleOp::getOperationName()),
        together(ModuleOp::getOperationName());
    if (level == "placed") {
      addPlacingPasses(whole, *plan, explain);
    } else if (level == "ordered") {
      addCuttingPasses(whole, *plan, explain);
      addOrderingPasses(each, *plan, explain);
      addSchedulingPasses(together, *plan);
    } else {
      addMemoryPasses(each, *plan, usesOneRegion(*target), explain);
      addCodePasses(each, *plan);
    }
    if (failed(runPipeline(whole, module)))
      return signalPassFailure();
    for (dist::RankProgram program : dist::programsOf(module))
      if (failed(runPipeline(each, program.module)))
        return signalPassFailure();
    if (failed(runPipeline(together, module)))
      return signalPassFailure();
  }
};
} // namespace

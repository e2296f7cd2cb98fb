// Tries plans on copies of a module, and keeps the one with the shortest step.

#include "passes/Pipelines/Passes.h"

#include "passes/Pipelines/PlannedPasses.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/PlanAttr.h"
#include "dialects/Dist/IR/Stages.h"
#include "passes/Play/OrderedPlay.h"
#include "planning/FitStep.h"
#include "planning/PlanError.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_FITSTEP
#include "passes/Pipelines/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {

struct FitStepPass : dpc::impl::FitStepBase<FitStepPass> {
  using FitStepBase::FitStepBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    addDialectsOfPlans(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<ProgramPlan> plan = dist::getPlan(module);
    if (failed(plan))
      return signalPassFailure();
    StepProblem problem;
    problem.asked = *plan;
    problem.summedBytes = findSummedBytes(module);
    problem.mayChooseBuckets = mayChooseBuckets;
    problem.axesToDivide = {axesToDivide.begin(), axesToDivide.end()};
    if (llvm::Error error = problem.check()) {
      module.emitError("its plan: ") << llvm::toString(std::move(error));
      return signalPassFailure();
    }
    if (problem.summedBytes == 0 || !module.lookupSymbol("step") ||
        (!mayChooseBuckets && axesToDivide.empty()))
      return;
    // The cut into stages does not depend on the choices.
    OwningOpRef<ModuleOp> cut = module.clone();
    PassManager cutting(module.getContext());
    addCuttingPasses(cutting, *plan, /*explain=*/false);
    if (failed(cutting.run(*cut)))
      return signalPassFailure();
    // Only the step is played.
    for (dist::RankProgram program : dist::programsOf(*cut))
      if (auto eval = program.module.lookupSymbol<func::FuncOp>("eval"))
        eval.erase();
    llvm::Expected<StepAnswer> answer =
        fitStep(problem, [&](const ProgramPlan &tried) -> llvm::Expected<StepEstimate> {
          OwningOpRef<ModuleOp> trial = cut->clone();
          dist::setPlan(*trial, tried);
          PassManager order(module.getContext());
          order.enableVerifier(false); // the passes run again, and are checked, for the final plan
          addOrderingPasses(order, tried, /*explain=*/false);
          for (dist::RankProgram program : dist::programsOf(*trial))
            if (failed(order.run(program.module)))
              return planError("a pass has failed");
          FailureOr<StepEstimate> estimate = estimateStep(*trial, tried.overlap);
          if (failed(estimate))
            return planError("a pass has failed");
          return *estimate;
        });
    if (!answer) {
      // The pass that failed has emitted an error.
      llvm::consumeError(answer.takeError());
      return signalPassFailure();
    }
    if (llvm::Error error = answer->verify(problem)) {
      module.emitError("the plan that was found: ") << llvm::toString(std::move(error));
      return signalPassFailure();
    }
    dist::setPlan(module, answer->plan);
    report(problem, *answer);
  }

private:
  /// The bytes that ranks sum, without those of the metrics.
  static int64_t findSummedBytes(ModuleOp module) {
    int64_t bytes = 0;
    module.walk([&](dist::AllReduceOp op) {
      if (op.getType().getRank() > 0)
        bytes += tensorBytes(op.getType());
    });
    return bytes;
  }

  void report(const StepProblem &problem, const StepAnswer &answer) {
    const std::string how = answer.describeChanges(problem.asked);
    if (how.empty() && !explain)
      return;
    auto milliseconds = [](const StepEstimate &estimate) {
      return llvm::formatv("{0:f3} ms", estimate.seconds * 1e3).str();
    };
    InFlightDiagnostic remark = getOperation().emitRemark("a step takes ");
    remark << milliseconds(answer.estimate);
    if (!how.empty())
      remark << " with " << how << ", and " << milliseconds(answer.ofAsked) << " without";
    remark << ", as estimated; " << answer.trials << (answer.trials == 1 ? " plan" : " plans")
           << " tried";
  }
};

} // namespace

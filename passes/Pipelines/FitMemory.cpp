// Tries plans on copies of a module until one fits into the memory of a device.

#include "passes/Pipelines/Passes.h"

#include "passes/Pipelines/PlannedPasses.h"

#include "dialects/Dist/IR/PlanAttr.h"
#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "passes/Machine/MachineTarget.h"
#include "passes/Memory/LargestTensors.h"
#include "planning/FitMemory.h"
#include "planning/PlanError.h"
#include "planning/SizeText.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_FITMEMORY
#include "passes/Pipelines/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using exec::ExecDialect;

namespace {

struct FitMemoryPass : dpc::impl::FitMemoryBase<FitMemoryPass> {
  using FitMemoryBase::FitMemoryBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    addDialectsOfPlans(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<ProgramPlan> plan = dist::getPlan(module);
    if (failed(plan))
      return signalPassFailure();
    if (plan->deviceBytes == 0)
      return;
    const Target *target = getTarget(module);
    if (!target)
      return signalPassFailure();
    FitProblem problem;
    problem.asked = *plan;
    problem.asked.deviceBytes = 0;
    problem.capacity = plan->deviceBytes;
    problem.trains = module.lookupSymbol("step") != nullptr;
    problem.mayRecompute = mayRecompute;
    problem.axesToDivide = {axesToDivide.begin(), axesToDivide.end()};
    problem.mayShrinkBuckets = mayShrinkBuckets;
    if (llvm::Error error = problem.check()) {
      module.emitError("its plan: ") << llvm::toString(std::move(error));
      return signalPassFailure();
    }
    int64_t least = 0;
    std::string largest;
    llvm::Expected<FitAnswer> answer =
        fitMemory(problem, [&](const ProgramPlan &tried) -> llvm::Expected<MemoryNeed> {
          OwningOpRef<ModuleOp> trial = module.clone();
          dist::setPlan(*trial, tried);
          if (failed(planMemory(*trial, tried, *target)))
            return planError("a pass has failed");
          ModuleOp fullest = findFullest(*trial);
          MemoryNeed need = needOf(fullest);
          if (tried.stages() > 1)
            addStages(*trial, need);
          if (least == 0 || need.peak < least) {
            least = need.peak;
            largest = describeLargest(fullest);
          }
          return need;
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
    if (!answer->fits) {
      refuse(problem, *answer, largest);
      return signalPassFailure();
    }
    dist::setPlan(module, answer->plan);
    if (const std::string how = answer->describeChanges(problem.asked); !how.empty())
      module.emitRemark("needs ") << exactBytesText(answer->need.peak) << rankText(answer->need)
                                  << ", of " << exactBytesText(problem.capacity)
                                  << " allowed, with " << how << "; "
                                  << exactBytesText(answer->asAsked.peak) << " without";
  }

private:
  /// Runs the passes that take `module` from level `local` to memory plans of its stages.
  static LogicalResult planMemory(ModuleOp module, const ProgramPlan &plan, const Target &target) {
    PassManager cut(module.getContext()), order(module.getContext()), schedule(module.getContext()),
        place(module.getContext());
    addCuttingPasses(cut, plan, /*explain=*/false);
    addOrderingPasses(order, plan, /*explain=*/false);
    addSchedulingPasses(schedule, plan);
    addMemoryPasses(place, plan, usesOneRegion(target), /*explain=*/false);
    if (failed(cut.run(module)))
      return failure();
    const SmallVector<dist::RankProgram> programs = dist::programsOf(module);
    for (dist::RankProgram program : programs)
      if (failed(order.run(program.module)))
        return failure();
    if (failed(schedule.run(module)))
      return failure();
    for (dist::RankProgram program : programs)
      if (failed(place.run(program.module)))
        return failure();
    return success();
  }

  /// The program whose rank needs the most memory.
  static ModuleOp findFullest(ModuleOp module) {
    ModuleOp fullest;
    for (dist::RankProgram program : dist::programsOf(module))
      if (!fullest || needOf(fullest).peak < needOf(program.module).peak)
        fullest = program.module;
    return fullest;
  }

  static MemoryNeed needOf(ModuleOp module) {
    auto use = module->getAttrOfType<exec::MemoryUseAttr>(ExecDialect::kMemoryUseAttrName);
    auto memory = module->getAttrOfType<exec::MemoryAttr>(ExecDialect::kMemoryAttrName);
    return {memory.getPeak(),
            use.getParameters() + use.getOptimizer() + use.getBuffers() + use.getData(),
            {}};
  }

  /// Adds what the stages of the pipeline `module` need.
  static void addStages(ModuleOp module, MemoryNeed &need) {
    for (dist::RankProgram program : dist::programsOf(module))
      need.stagePeaks.push_back(needOf(program.module).peak);
    auto cut = module->getAttrOfType<DenseI64ArrayAttr>(dist::DistDialect::kCutBytesAttrName);
    need.cutBytes.assign(cut.asArrayRef().begin(), cut.asArrayRef().end());
    auto pipeline = module->getAttrOfType<dist::PipelineAttr>(dist::DistDialect::kPipelineAttrName);
    if (!pipeline)
      return;
    const ArrayRef<int64_t> held = pipeline.getHeld(), least = pipeline.getLeast();
    need.heldBytes = held;
    need.leastHeldBytes = least;
    // Stages at the end without pieces have no entry.
    need.heldBytes.resize(need.stagePeaks.size());
    need.leastHeldBytes.resize(need.stagePeaks.size());
    for (Attribute ends : pipeline.getEnds())
      for (int64_t end : cast<DenseI64ArrayAttr>(ends).asArrayRef())
        need.stepNs = std::max(need.stepNs, end);
  }

  /// Words for a rank that needs the peak of `need`, with its stage.
  static std::string rankText(const MemoryNeed &need) {
    auto stage = llvm::find(need.stagePeaks, need.peak);
    return stage == need.stagePeaks.end()
               ? " a rank"
               : " a rank of stage " + std::to_string(stage - need.stagePeaks.begin());
  }

  void refuse(const FitProblem &problem, const FitAnswer &answer, const std::string &largest) {
    const std::string how = answer.describeChanges(problem.asked);
    std::string text =
        "--device-memory: needs " + exactBytesText(answer.need.peak) + rankText(answer.need);
    if (!how.empty())
      text += " with " + how + ", and " + exactBytesText(answer.asAsked.peak) + " without";
    text += ", but " + exactBytesText(problem.capacity) + " are allowed; ";
    if (problem.axesToDivide.empty() && problem.asked.zero.stage != ZeroStage::parameters)
      text += "state of many ranks takes less with --zero=3, ";
    text += "activations with --microbatches or more ranks; " + largest;
    getOperation().emitError(text);
  }
};

} // namespace

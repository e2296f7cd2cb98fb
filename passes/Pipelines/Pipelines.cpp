// The order of the passes, and why each stands where it stands.

#include "passes/Pipelines/Pipelines.h"

#include "passes/Autodiff/Passes.h"
#include "passes/Bucketing/Passes.h"
#include "passes/Fusion/Passes.h"
#include "passes/Lowering/Passes.h"
#include "passes/Machine/Passes.h"
#include "passes/Memory/Passes.h"
#include "passes/Normalize/Passes.h"
#include "passes/Optimize/Passes.h"
#include "passes/Overlap/Passes.h"
#include "passes/Pipelines/Passes.h"
#include "passes/Remat/Passes.h"
#include "passes/Sharding/Passes.h"
#include "passes/Verify/Passes.h"

#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace dpc;

std::optional<Level> dpc::parseLevel(StringRef name) {
  return llvm::StringSwitch<std::optional<Level>>(name)
      .Case("import", Level::import)
      .Case("step", Level::step)
      .Case("placed", Level::placed)
      .Case("local", Level::local)
      .Case("ordered", Level::ordered)
      .Case("scheduled", Level::scheduled)
      .Case("exec", Level::exec)
      .Case("object", Level::object)
      .Default(std::nullopt);
}

StringRef dpc::levelNames() {
  return "import, step, placed, local, ordered, scheduled, exec, object";
}

void dpc::addContractCheck(OpPassManager &manager, Level level) {
  switch (level) {
  case Level::import:
    return manager.addPass(createVerifyImport());
  case Level::step:
    return manager.addPass(createVerifyStep());
  case Level::placed:
    return manager.addPass(createVerifyPlaced());
  case Level::local:
    return manager.addPass(createVerifyLocal());
  case Level::ordered:
    return manager.addPass(createVerifyOrdered());
  case Level::scheduled:
    return manager.addPass(createVerifyScheduled());
  case Level::exec:
    return manager.addPass(createVerifyExec());
  case Level::object: // the runtime checks the record when it is loaded
    return;
  }
}

/// Every pipeline ends with what its level promises.
template <typename Options>
static void addCheck(OpPassManager &manager, Level level, const Options &options) {
  if (options.verify)
    addContractCheck(manager, level);
}

/// The values of a list option, as passes take them.
template <typename T, typename List> static ArrayRef<T> listOf(const List &list) {
  return ArrayRef<T>(list);
}

/// Products become narrow once attention is formed, of products and a softmax in
/// one type, and before gradients, which then have the types of what they are of.
static void addNarrowing(OpPassManager &manager, const StepOptions &options) {
  if (options.precision != "bf16" && options.precision != "f16")
    return;
  NarrowFloatsOptions narrow;
  narrow.type = options.precision;
  manager.addPass(createNarrowFloats(narrow));
}

/// Ahead of gradients: what a loss reads of a product is f32, since most of a loss's error would
/// come from its rounding. And behind them: those of weights are f32 sums.
static void addWideSums(OpPassManager &manager, const StepOptions &options) {
  if (options.precision == "bf16" || options.precision == "f16")
    manager.addNestedPass<func::FuncOp>(createWidenSums());
}

/// Behind gradients, which see rows as they are.
static void addRoundedLookups(OpPassManager &manager, const StepOptions &options) {
  if (options.precision == "bf16" || options.precision == "f16")
    manager.addNestedPass<func::FuncOp>(createRoundLookups());
}

void dpc::buildStepPipeline(OpPassManager &manager, const StepOptions &options) {
  // Precision first: every later pass then creates values of the final type.
  if (options.precision == "f64")
    manager.addPass(createWidenFloats());

  // Before differentiation the program is simplified once, so that gradients
  // are built of what is left (and a convert between equal types is gone).
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());

  // Of the program as it was written: gradients of what this forms are cut by
  // the batch too, and masks that were looked up can be seen by attention.
  manager.addPass(createFormBatchGathers());

  if (options.loss.empty()) {
    manager.addPass(createFormInference());
    manager.addPass(createFormAttention());
    addNarrowing(manager, options);
    addWideSums(manager, options);
    addRoundedLookups(manager, options);
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
    manager.addNestedPass<func::FuncOp>(createRecordBounds());
    return addCheck(manager, Level::step, options);
  }

  AddLossOptions loss;
  loss.loss = options.loss;
  loss.lossOutput = options.lossOutput;
  loss.labelSmoothing = options.labelSmoothing;
  loss.ignoreIndex = options.ignoreIndex;
  loss.classAxis = listOf<int64_t>(options.classAxis);
  loss.labelBatchDim = listOf<int64_t>(options.labelBatchDim);
  loss.labelShape = listOf<int64_t>(options.labelShape);
  loss.labelType = options.labelType;
  loss.metrics = listOf<std::string>(options.metrics);
  loss.batchGroups = options.batchGroups;
  manager.addPass(createAddLoss(loss));

  // After the choice of training forms: dropout of probabilities is in the way
  // of @step but not of @eval. Before differentiation: the gradient has a
  // kernel of its own.
  manager.addPass(createFormAttention());
  addNarrowing(manager, options);
  addWideSums(manager, options);
  DifferentiateOptions differentiate;
  // Gradients below 2^-24 are zero in f16. The scale soon finds its own value.
  differentiate.lossScale = options.precision == "f16" ? 65536 : 0;
  manager.addPass(createDifferentiate(differentiate));
  addWideSums(manager, options);
  addRoundedLookups(manager, options);

  ApplyOptimizerOptions optimizer;
  optimizer.optimizer = options.optimizer;
  optimizer.groups = listOf<std::string>(options.parameterGroups);
  optimizer.clipGradNorm = options.clipGradNorm;
  optimizer.logGradNorm = options.logGradNorm;
  optimizer.schedule = options.schedule;
  optimizer.gradientType = options.gradientType;
  manager.addPass(createApplyOptimizer(optimizer));

  // Masks, zeros and bias corrections that several gradients or updates asked
  // for become one; what no result needs goes.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());

  // Before layouts: bounds are about the whole tensor.
  manager.addNestedPass<func::FuncOp>(createRecordBounds());
  addCheck(manager, Level::step, options);
}

/// The passes of a level that the module's plan chooses.
template <typename Options>
static void addPlanned(OpPassManager &manager, StringRef level, const Options &options) {
  FollowPlanOptions follow;
  follow.level = level.str();
  follow.explain = options.explain;
  manager.addPass(createFollowPlan(follow));
}

void dpc::buildPlacedPipeline(OpPassManager &manager, const PlacedOptions &options) {
  // Before the passes that decide by it.
  DescribeMachineOptions describe;
  describe.target = options.target;
  describe.processor = options.processor;
  manager.addPass(createDescribeMachine(describe));
  addPlanned(manager, "placed", options);
  addCheck(manager, Level::placed, options);
}

void dpc::buildLocalPipeline(OpPassManager &manager, const LocalOptions &options) {
  manager.addPass(createPartition());
  // Index arithmetic that several ops asked for becomes one.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  addCheck(manager, Level::local, options);
}

void dpc::buildOrderedPipeline(OpPassManager &manager, const OrderedOptions &options) {
  addPlanned(manager, "ordered", options);
  addCheck(manager, Level::ordered, options);
}

void dpc::buildScheduledPipeline(OpPassManager &manager, const ScheduledOptions &options) {
  addPlanned(manager, "scheduled", options);
  addCheck(manager, Level::scheduled, options);
}

void dpc::buildExecPipeline(OpPassManager &manager, const ExecOptions &options) {
  // Last, so that buffers can be named again inside the functions.
  manager.addPass(createFormFunctions());
  addCheck(manager, Level::exec, options);
}

void dpc::registerAllPasses() {
  mlir::registerTransformsPasses();
  registerAutodiffPasses();
  registerBucketingPasses();
  registerFusionPasses();
  registerOverlapPasses();
  registerPipelinesPasses();
  registerRematPasses();
  registerLoweringPasses();
  registerMachinePasses();
  registerMemoryPasses();
  registerNormalizePasses();
  registerOptimizePasses();
  registerShardingPasses();
  registerVerifyPasses();
  PassPipelineRegistration<StepOptions>("dpc-step-pipeline", "import -> step", buildStepPipeline);
  PassPipelineRegistration<PlacedOptions>("dpc-placed-pipeline", "step -> placed",
                                          buildPlacedPipeline);
  PassPipelineRegistration<LocalOptions>("dpc-local-pipeline", "placed -> local",
                                         buildLocalPipeline);
  PassPipelineRegistration<OrderedOptions>("dpc-ordered-pipeline", "local -> ordered",
                                           buildOrderedPipeline);
  PassPipelineRegistration<ScheduledOptions>("dpc-scheduled-pipeline", "ordered -> scheduled",
                                             buildScheduledPipeline);
  PassPipelineRegistration<ExecOptions>("dpc-exec-pipeline", "scheduled -> exec",
                                        buildExecPipeline);
}

// Lists the passes of each level in order, with the reason for the position of each.
// PlannedPasses.cpp lists the passes that depend on the plan of a module.

#include "passes/Pipelines/Pipelines.h"

#include "passes/Autodiff/Passes.h"
#include "passes/Buckets/Passes.h"
#include "passes/Fusion/Passes.h"
#include "passes/Lowering/Passes.h"
#include "passes/Machine/Passes.h"
#include "passes/Memory/Passes.h"
#include "passes/Normalize/Passes.h"
#include "passes/Optimize/Passes.h"
#include "passes/Overlap/Passes.h"
#include "passes/Pipelines/Passes.h"
#include "passes/Remat/Passes.h"
#include "passes/ShardedUpdates/Passes.h"
#include "passes/Sharding/Passes.h"
#include "passes/Stages/Passes.h"
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

/// Ends a pipeline with the check of its level's contract, unless `verify` is off.
template <typename Options>
static void addCheck(OpPassManager &manager, Level level, const Options &options) {
  if (options.verify)
    addContractCheck(manager, level);
}

/// The values of a pipeline's list option, in the type of the passes' list options.
template <typename T, typename List> static ArrayRef<T> listOf(const List &list) {
  return ArrayRef<T>(list);
}

/// Adds dpc-narrow-floats. It runs after attention formation, which matches only products and
/// softmax of one type. It runs before differentiation, so that every gradient has the type of
/// its value.
static void addNarrowing(OpPassManager &manager, const StepOptions &options) {
  if (options.precision != "bf16" && options.precision != "f16")
    return;
  NarrowFloatsOptions narrow;
  narrow.type = options.precision;
  manager.addPass(createNarrowFloats(narrow));
}

/// Adds dpc-widen-sums. The first run is before differentiation: a product that the loss reads
/// must give f32, because rounding this product would cause most of the error of the loss. The
/// second run is after differentiation: gradients of weights must be f32 sums.
static void addWideSums(OpPassManager &manager, const StepOptions &options) {
  if (options.precision == "bf16" || options.precision == "f16")
    manager.addNestedPass<func::FuncOp>(createWidenSums());
}

/// Adds dpc-round-lookups. It runs after differentiation, so that the gradient of a row of a
/// table is not rounded.
static void addRoundedLookups(OpPassManager &manager, const StepOptions &options) {
  if (options.precision == "bf16" || options.precision == "f16")
    manager.addNestedPass<func::FuncOp>(createRoundLookups());
}

void dpc::buildStepPipeline(OpPassManager &manager, const StepOptions &options) {
  // Change floats to f64 first, so that every later pass creates values of the final type.
  if (options.precision == "f64")
    manager.addPass(createWidenFloats());

  // Simplify before differentiation, so that no gradients are built for ops that
  // disappear, such as a convert between equal types.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());

  // Form batch gathers before differentiation, so that their gradients can be sharded along
  // the batch too. Form them before attention, because attention formation matches masks that
  // are broadcast, but not masks that are looked up.
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

  // Form attention after dpc-add-loss, which replaces dropout by its training form in @step
  // and removes it in @eval. A dropout between softmax and product then prevents attention in
  // @step, but not in @eval. Form attention before differentiation, because the gradient of
  // attention is an op with its own kernel.
  manager.addPass(createFormAttention());
  addNarrowing(manager, options);
  addWideSums(manager, options);
  DifferentiateOptions differentiate;
  // f16 has no positive number below 2^-24, so small gradients would become 0. Therefore the
  // loss is scaled up. This is only the first scale: the optimizer adapts it.
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

  // Merge masks, zeros and bias corrections that several gradients or updates
  // use, and erase ops without uses.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());

  // Record bounds before layouts are assigned, because bounds are for the whole tensor, not
  // for a shard.
  manager.addNestedPass<func::FuncOp>(createRecordBounds());
  addCheck(manager, Level::step, options);
}

/// Adds dpc-follow-plan, which runs the passes that the module's plan chooses for `level`.
template <typename Options>
static void addPlanned(OpPassManager &manager, StringRef level, const Options &options) {
  FollowPlanOptions follow;
  follow.level = level.str();
  follow.explain = options.explain;
  manager.addPass(createFollowPlan(follow));
}

void dpc::buildPlacedPipeline(OpPassManager &manager, const PlacedOptions &options) {
  // Describe the machine first, because the decisions of later passes depend on it.
  DescribeMachineOptions describe;
  describe.target = options.target;
  describe.processor = options.processor;
  describe.topology = options.topology;
  manager.addPass(createDescribeMachine(describe));
  addPlanned(manager, "placed", options);
  addCheck(manager, Level::placed, options);
}

void dpc::buildLocalPipeline(OpPassManager &manager, const LocalOptions &options) {
  manager.addPass(createPartition());
  manager.addNestedPass<func::FuncOp>(createDropUnitDimensions());
  // Merge equal index arithmetic that partitioning has made for different ops.
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
  // Form functions last. Each function repeats the definitions of the buffers that it uses, so
  // a later pass would have to change all of these copies.
  manager.addPass(createFormFunctions());
  addCheck(manager, Level::exec, options);
}

void dpc::registerAllPasses() {
  mlir::registerTransformsPasses();
  registerAutodiffPasses();
  registerBucketsPasses();
  registerFusionPasses();
  registerOverlapPasses();
  registerPipelinesPasses();
  registerRematPasses();
  registerLoweringPasses();
  registerMachinePasses();
  registerMemoryPasses();
  registerNormalizePasses();
  registerOptimizePasses();
  registerShardedUpdatesPasses();
  registerShardingPasses();
  registerStagesPasses();
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

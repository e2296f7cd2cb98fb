// Lists the passes that depend on the plan of a module, with the reason for the position of each.

#include "passes/Pipelines/PlannedPasses.h"

#include "passes/Buckets/Passes.h"
#include "passes/Fusion/Passes.h"
#include "passes/Lowering/Passes.h"
#include "passes/Memory/Passes.h"
#include "passes/Overlap/Passes.h"
#include "passes/Remat/Passes.h"
#include "passes/ShardedUpdates/Passes.h"
#include "passes/Sharding/Passes.h"
#include "passes/Stages/Passes.h"
#include "passes/Verify/Passes.h"

#include "dialects/Dist/IR/Messages.h"

using namespace mlir;
using namespace dpc;

static ArrayRef<std::string> listOf(const std::vector<std::string> &list) { return list; }

void dpc::addPlacingPasses(OpPassManager &manager, const ProgramPlan &plan, bool explain) {
  if (!plan.layouts.empty() || !plan.fileLayouts.empty()) {
    AnnotateLayoutsOptions annotate;
    annotate.specs = listOf(plan.fileLayouts);
    annotate.shards = listOf(plan.layouts);
    manager.addPass(createAnnotateLayouts(annotate));
  }
  AssignLayoutsOptions assign;
  SmallVector<std::string> axes, sequentialAxes, batchAxes, autoAxes;
  if (plan.microbatches > 0) {
    // Microbatches are the outermost axis of the batch. A loop iterates over this axis.
    axes.push_back("micro=" + std::to_string(plan.microbatches));
    sequentialAxes.push_back("micro");
    batchAxes.push_back("micro");
  }
  for (const PlanAxis &axis : plan.mesh) {
    axes.push_back(axis.name + "=" + std::to_string(axis.size));
    // The axis `pipe` cuts no tensor: each of its coordinates runs a stage of the program.
    if (axis.name != dist::kPipeAxis)
      (axis.cutsBatch ? batchAxes : autoAxes).push_back(axis.name);
  }
  assign.axes = ArrayRef<std::string>(axes);
  assign.sequentialAxes = ArrayRef<std::string>(sequentialAxes);
  assign.batchAxes = ArrayRef<std::string>(batchAxes);
  assign.autoAxes = ArrayRef<std::string>(autoAxes);
  assign.explain = explain;
  // No canonicalization may run from here to partitioning, because layouts are attributes of ops,
  // and patterns would drop them.
  manager.addPass(createAssignLayouts(assign));
}

void dpc::addCuttingPasses(OpPassManager &manager, const ProgramPlan &plan, bool explain) {
  // Advance sums first (dpc-advance-sums), because the following passes look at how long values
  // live. Advance them before the cut, because only the complete program shows which ops belong to
  // the backward pass.
  manager.addNestedPass<func::FuncOp>(createAdvanceSums());
  if (!plan.remat.nodes.empty()) {
    CheckRematNodesOptions check;
    check.nodes = listOf(plan.remat.nodes);
    manager.addPass(createCheckRematNodes(check));
  }
  if (plan.stages() == 1)
    return;
  AssignStagesOptions stages;
  stages.chunksPerStage = plan.chunksPerStage;
  stages.schedule = nameOf(plan.schedule).str();
  stages.microbatches = std::max<int64_t>(plan.microbatches, 1);
  stages.stageBytes = plan.cutBytes;
  stages.nodes = listOf(plan.cutNodes);
  manager.addPass(createAssignStages(stages));
  manager.addPass(createCutStages());
  manager.addPass(createJoinMessages());
  manager.addPass(createVerifyStages());
}

/// Returns the options of a pass that prepares, describes or generates kernels. These passes must
/// get the same options, because memory is planned from the descriptions.
template <typename Options> static Options kernelOptions(const KernelChoices &kernels) {
  Options options;
  options.recompute = kernels.recompute;
  options.factors = kernels.factors;
  options.products = kernels.products;
  options.orderedSums = kernels.orderedSums;
  return options;
}

void dpc::addOrderingPasses(OpPassManager &manager, const ProgramPlan &plan, bool explain) {
  // Rematerialize before updates are divided. At stage 3 the repeated ops then read the
  // parameters that are gathered for the backward pass. Rematerialize before loops are peeled, so
  // that peeling copies the repeated ops with the loop's body.
  if (!plan.remat.isNone()) {
    RematOptions remat;
    remat.savedBytes = plan.remat.savedBytes;
    remat.nodes = listOf(plan.remat.nodes);
    remat.stages = ArrayRef<int64_t>(plan.remat.stages);
    remat.divides = plan.mayDivideGradients();
    remat.dividedAxes = listOf(plan.zero.axes);
    remat.explain = explain;
    manager.addPass(createRemat(remat));
  }
  // Peel loops before kernels are formed, so that the additions of the last microbatch are fused
  // with the ops that make their operands.
  if (plan.peelsMicrobatches()) {
    PeelMicrobatchesOptions peeling;
    peeling.explain = explain;
    manager.addNestedPass<func::FuncOp>(createPeelMicrobatches(peeling));
  }
  // Divide updates after level `local` is checked, because the contract of this level allows only
  // tensors that the host knows, and no flat storage. Divide them before kernels are formed, so
  // that kernels consist of the ops that one rank computes.
  DivideUpdatesOptions division;
  division.firstBucketBytes = plan.buckets.first;
  division.bucketBytes = plan.buckets.later;
  division.stage = static_cast<int64_t>(plan.zero.stage);
  division.keepBytes = plan.zero.keptBytes;
  division.axes = listOf(plan.zero.axes);
  division.explain = explain;
  manager.addPass(createDivideUpdates(division));

  // Narrow sums before kernels are formed, so that the conversion is part of the kernel that reads
  // the sum.
  manager.addPass(createNarrowSums(kernelOptions<NarrowSumsOptions>(plan.kernels)));

  // Move channels after sums are narrow, because only then a library computes the gradients of
  // weights, and before kernels are formed, so that transpositions that remain are part of kernels.
  manager.addPass(createSetChannelsLast(kernelOptions<SetChannelsLastOptions>(plan.kernels)));

  // Align products before pieces and kernels are formed, so that the padding of a factor is part
  // of the piece and of the kernel that compute the factor.
  manager.addPass(createReadInPlace());
  manager.addPass(createRoundAddends(kernelOptions<RoundAddendsOptions>(plan.kernels)));
  manager.addPass(createAlignProducts(kernelOptions<AlignProductsOptions>(plan.kernels)));

  // Form pieces after recomputation and divided updates, which add ops to the loop of a stage, and
  // before kernels, which must not join ops of different pieces.
  if (plan.stages() > 1) {
    FormPiecesOptions pieces;
    pieces.splitsWeights = plan.schedule == ScheduleKind::zeroBubble;
    manager.addPass(createFormPieces(pieces));
  }

  manager.addNestedPass<func::FuncOp>(createMoveSums());
  manager.addNestedPass<func::FuncOp>(
      createFormKernels(kernelOptions<FormKernelsOptions>(plan.kernels)));

  // Free operands before the order of collectives is chosen, which depends on that of kernels.
  manager.addNestedPass<func::FuncOp>(createFreeOperands());

  // Form buckets and order the ops after kernels are formed, because a bucket joins results of
  // kernels, and the order depends on the times of kernels.
  BucketCollectivesOptions buckets;
  buckets.firstBucketBytes = plan.buckets.first;
  buckets.bucketBytes = plan.buckets.later;
  manager.addNestedPass<func::FuncOp>(createBucketCollectives(buckets));
  if (plan.overlap)
    manager.addPass(createOrderComputation());
  // Join kernels after the order is known, because a joined kernel waits for all its operands.
  manager.addNestedPass<func::FuncOp>(createJoinKernels());
}

void dpc::addSchedulingPasses(OpPassManager &manager, const ProgramPlan &plan) {
  if (plan.stages() == 1)
    return;
  SchedulePipelineOptions schedule;
  schedule.schedule = nameOf(plan.schedule).str();
  schedule.overlap = plan.overlap;
  schedule.heldBytes = ArrayRef<int64_t>(plan.scheduleBytes);
  manager.addPass(createSchedulePipeline(schedule));
}

bool dpc::usesOneRegion(const Target &target) {
  return target.getFunctionForm() == FunctionForm::gridTable;
}

void dpc::addMemoryPasses(OpPassManager &manager, const ProgramPlan &plan, bool oneRegion,
                          bool explain) {
  manager.addPass(createOutlineKernels());
  // Describe kernels before buffers are made. The description says how much scratch memory a
  // kernel needs, and which of its results may share the buffer of an operand.
  manager.addPass(createDescribeKernels(kernelOptions<DescribeKernelsOptions>(plan.kernels)));
  manager.addPass(createLowerToExec());
  manager.addPass(createComputeInPlace());
  // Delay waits after buffers are shared, because a wait must be placed before the next use of
  // the collective's buffers.
  if (plan.overlap)
    manager.addPass(createDelayWaits());
  manager.addPass(createMarkPurposes());
  AssignOffsetsOptions memory;
  memory.capacityBytes = plan.deviceBytes;
  memory.oneRegion = oneRegion;
  memory.explain = explain;
  manager.addPass(createAssignOffsets(memory));
}

void dpc::addCodePasses(OpPassManager &manager, const ProgramPlan &plan) {
  manager.addPass(createGenerateCode(kernelOptions<GenerateCodeOptions>(plan.kernels)));
}

void dpc::addDialectsOfPlans(DialectRegistry &registry) {
  // This plan requests every pass that any plan can request.
  ProgramPlan plan;
  plan.layouts = {"*=-"};
  plan.remat.savedBytes = RematChoice::all;
  plan.mesh = {{kPipeAxis.str(), 2}};
  OpPassManager passes(ModuleOp::getOperationName());
  addPlacingPasses(passes, plan, /*explain=*/false);
  addCuttingPasses(passes, plan, /*explain=*/false);
  addOrderingPasses(passes, plan, /*explain=*/false);
  addSchedulingPasses(passes, plan);
  addMemoryPasses(passes, plan, /*oneRegion=*/false, /*explain=*/false);
  addCodePasses(passes, plan);
  passes.getDependentDialects(registry);
}

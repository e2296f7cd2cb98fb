// The plan of a program. Many programs compute the same training step. The plan has all the
// choices that select one of these programs, such as the mesh, the division of state among ranks,
// and the sizes of buckets.
//
// dpc-compile makes the plan from its command line and from the memory of a device. The module
// holds the plan as `#dist.plan` (dialects/Dist/IR/PlanAttr.h), and the pipelines follow it.

#ifndef DPC_PLANNING_PLAN_H
#define DPC_PLANNING_PLAN_H

#include "planning/FactorForm.h"
#include "planning/ProductMaker.h"
#include "planning/ScheduleKind.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dpc {

/// The mesh axis whose coordinate is the number of a device's stage in a pipeline. It shards no
/// tensor.
inline constexpr llvm::StringLiteral kPipeAxis = "pipe";

/// One axis of the mesh of devices.
struct PlanAxis {
  std::string name;
  int64_t size = 1;
  /// Whether the axis shards the batch. If not, the compiler chooses the dimensions of parameters
  /// and other values that the axis shards.
  bool cutsBatch = false;
};

/// The tensors that ranks divide among each other instead of each rank holding all of them
/// (ZeRO). Each stage from `optimizer` on includes the stages before it.
enum class ZeroStage : int64_t {
  automatic = -1, ///< the optimizer state of each update that division makes faster
  none,
  optimizer,
  gradients,
  parameters
};

struct ZeroChoice {
  ZeroStage stage = ZeroStage::automatic;
  /// The mesh axes over which the state is divided; if empty, the axes over which the gradients
  /// are summed.
  std::vector<std::string> axes;
  /// For stage `parameters`: this many bytes of parameters are gathered once per step, and kept
  /// until their last reader. All other parameters are gathered for the forward pass and again
  /// for the backward pass.
  int64_t keptBytes = 0;
};

/// The values of the forward pass that the backward pass computes again.
struct RematChoice {
  /// The number of bytes that recomputation should save. The compiler chooses the values that
  /// take the least time to compute again.
  int64_t savedBytes = 0;
  /// The value of `savedBytes` that asks to compute again all values whose
  /// recomputation saves memory.
  static constexpr int64_t all = -1;
  /// Patterns of ONNX node names. If there are any, `savedBytes` is 0, and the values of the
  /// matching nodes are computed again.
  std::vector<std::string> nodes;
  /// The stages of the pipeline that compute values again, in increasing order; empty for all.
  std::vector<int64_t> stages;

  bool isNone() const { return savedBytes == 0 && nodes.empty(); }
};

/// A bucket takes no more gradients once it has this many bytes. `first` is for the first bucket
/// of a step. It is usually smaller than `later`, so that the collective of the first bucket can
/// start early.
struct BucketSizes {
  int64_t first = 1 << 20, later = 25 << 20;
};

/// How kernels are generated. `orderedSums`, `factors` and `products` can change how values are
/// rounded.
struct KernelChoices {
  /// Whether each kernel that reads the result of a short computation may repeat this
  /// computation, so that the result needs no memory.
  bool recompute = true;
  /// Whether each sum adds its terms one after the other, in the order of their indices. If not,
  /// a sum may use any order that is fast.
  bool orderedSums = false;
  /// How products and convolutions of f32 multiply their factors.
  FactorForm factors = FactorForm::whole;
  ProductMaker products = ProductMaker::bySize;
};

/// The facts about a program and its target that a plan must agree with.
struct PlannedProgram {
  /// Whether the program has a backward pass and updates.
  bool trains = true;
  /// Whether the target has tf32 and a library of matrix products.
  bool hasMatrixUnits = false;
  /// The mesh of the program as the module has it from level `placed` on: parallel axes only, in
  /// rank order. nullopt if the module has no mesh yet.
  std::optional<std::vector<std::pair<std::string, int64_t>>> mesh;
};

struct ProgramPlan {
  /// The axes of the mesh. Ranks are numbered so that the coordinate along the last axis changes
  /// fastest. Empty for one device.
  std::vector<PlanAxis> mesh;
  /// The number of microbatches into which a loop cuts each batch; 0 for no loop.
  int64_t microbatches = 0;
  /// The order in which the stages of a pipeline run the microbatches.
  ScheduleKind schedule = ScheduleKind::oneForwardOneBackward;
  /// The number of chunks that each stage runs. Only the schedules `interleaved` and `zeroBubble`
  /// can run several.
  int64_t chunksPerStage = 1;
  /// Patterns of ONNX node names, one per chunk but the first: a chunk starts with the first op of
  /// a node that matches. Empty for the best cut.
  std::vector<std::string> cutNodes;
  /// Bytes that the best cut may put on one stage, as far as it can estimate them (StageCut.h); 0
  /// for no limit. If no cut keeps the limit, the best cut is the one that needs the fewest bytes.
  int64_t cutBytes = 0;
  /// By stage: bytes that its microbatches may hold between pieces (PipelineSchedule.h); 0 for no
  /// limit. Empty for no limits.
  std::vector<int64_t> scheduleBytes;
  /// Layouts that the user asks for. Each has the form GLOB=ENTRY;ENTRY.. (see
  /// dpc-annotate-layouts).
  std::vector<std::string> layouts;
  /// Layouts that the model file asks for, in the same form. If both lists have a layout for a
  /// tensor, the one in `layouts` is used.
  std::vector<std::string> fileLayouts;
  ZeroChoice zero;
  RematChoice remat;
  BucketSizes buckets;
  /// Whether collectives run while kernels compute.
  bool overlap = true;
  /// Bytes of memory that a rank may use; 0 for no limit.
  int64_t deviceBytes = 0;
  KernelChoices kernels;

  /// The number of stages of the pipeline; 1 if there is none.
  int64_t stages() const;

  /// Whether the last microbatch is computed after the loop (dpc-peel-microbatches), so that
  /// ranks can reduce each of its gradients as soon as it exists. From stage `gradients` on the
  /// loop is not peeled, because each of its iterations reduces its own gradients. The loops of
  /// stages are not peeled either: the stages compute their last microbatches at different times.
  bool peelsMicrobatches() const {
    return overlap && zero.stage < ZeroStage::gradients && stages() == 1;
  }

  /// Whether a rank may keep only its part of each gradient, instead of all of it.
  bool mayDivideGradients() const { return zero.stage != ZeroStage::none; }

  /// Checks that the choices are valid and agree with each other.
  llvm::Error check() const;

  /// Checks that the choices agree with `program`. The plan must pass check().
  llvm::Error verify(const PlannedProgram &program) const;
};

/// Calls visit(name, field) for every choice of `plan`, in the order in which the plan's text
/// lists them. To add a choice, add a member above and a line here.
template <typename Plan, typename Visitor> void visitFields(Plan &plan, Visitor &&visit) {
  visit("mesh", plan.mesh);
  visit("microbatches", plan.microbatches);
  visit("schedule", plan.schedule);
  visit("chunksPerStage", plan.chunksPerStage);
  visit("cutNodes", plan.cutNodes);
  visit("cutBytes", plan.cutBytes);
  visit("scheduleBytes", plan.scheduleBytes);
  visit("layouts", plan.layouts);
  visit("fileLayouts", plan.fileLayouts);
  visit("zeroStage", plan.zero.stage);
  visit("zeroAxes", plan.zero.axes);
  visit("zeroKeptBytes", plan.zero.keptBytes);
  visit("rematBytes", plan.remat.savedBytes);
  visit("rematNodes", plan.remat.nodes);
  visit("rematStages", plan.remat.stages);
  visit("firstBucketBytes", plan.buckets.first);
  visit("bucketBytes", plan.buckets.later);
  visit("overlap", plan.overlap);
  visit("deviceBytes", plan.deviceBytes);
  visit("recompute", plan.kernels.recompute);
  visit("orderedSums", plan.kernels.orderedSums);
  visit("factors", plan.kernels.factors);
  visit("products", plan.kernels.products);
}

/// Returns the choices that differ from those of `ProgramPlan()`, in the syntax of `#dist.plan`:
/// `name = value, ..`. Two plans are equal if and only if their texts are equal.
std::string toString(const ProgramPlan &plan);
bool operator==(const ProgramPlan &a, const ProgramPlan &b);
llvm::hash_code hash_value(const ProgramPlan &plan);

} // namespace dpc

#endif // DPC_PLANNING_PLAN_H

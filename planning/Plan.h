// The plan of a program: every choice that makes one program of a training step out of the many
// that compute the same.
//
// dpc-compile makes a plan from its command line and from the memory of a device. The module
// holds it as `#dist.plan` (dialects/Dist/IR/PlanAttr.h), and the pipelines follow it.

#ifndef DPC_PLANNING_PLAN_H
#define DPC_PLANNING_PLAN_H

#include "planning/ProductMaker.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dpc {

/// One axis of the mesh of devices.
struct PlanAxis {
  std::string name;
  int64_t size = 1;
  /// Whether the axis cuts the samples of a batch. If not, the compiler chooses a loop of each
  /// contraction that it cuts.
  bool cutsBatch = false;
};

/// The state that ranks divide among each other instead of each holding all of it. A stage
/// includes the ones before it.
enum class ZeroStage : int64_t {
  automatic = -1, ///< the state of those updates that become faster
  none,
  optimizer,
  gradients,
  parameters
};

struct ZeroChoice {
  ZeroStage stage = ZeroStage::automatic;
  /// The mesh axes that divide it; if empty, those that sum the gradients.
  std::vector<std::string> axes;
  /// Bytes of divided parameters that are gathered once per step and kept until their last
  /// reader. Stage `parameters` only.
  int64_t keptBytes = 0;
};

/// The values of the forward pass that the backward pass computes again.
struct RematChoice {
  /// The cheapest values that save this many bytes.
  int64_t savedBytes = 0;
  /// Of savedBytes: all values that save memory.
  static constexpr int64_t all = -1;
  /// Globs of the ONNX nodes whose values are computed again instead.
  std::vector<std::string> nodes;

  bool isNone() const { return savedBytes == 0 && nodes.empty(); }
};

/// Bytes of gradients at which a bucket closes.
struct BucketSizes {
  int64_t first = 1 << 20, later = 25 << 20;
};

/// How kernels are generated. `orderedSums` and `tf32` change the last bits of values.
struct KernelChoices {
  /// Whether a reader may repeat a short computation.
  bool recompute = true;
  /// Whether each sum adds its terms in their order.
  bool orderedSums = false;
  /// Whether products of f32 may round their factors to tf32.
  bool tf32 = false;
  ProductMaker products = ProductMaker::bySize;
};

/// The facts about a program and its target that a plan must agree with.
struct PlannedProgram {
  /// Whether it has a backward pass and updates.
  bool trains = true;
  /// Whether the target has tf32 and a library of matrix products.
  bool hasMatrixUnits = false;
  /// Its mesh as level `placed` wrote it: parallel axes only, in rank order; nullopt before.
  std::optional<std::vector<std::pair<std::string, int64_t>>> mesh;
};

struct ProgramPlan {
  /// The mesh in rank order, last axis fastest; empty for one device.
  std::vector<PlanAxis> mesh;
  /// Parts of a batch that a loop walks; 0 for no loop.
  int64_t microbatches = 0;
  /// Layouts that the user asks for, GLOB=ENTRY;ENTRY.. each (see dpc-annotate-layouts).
  std::vector<std::string> layouts;
  /// Layouts that the model's file asks for, in the same form. `layouts` come before them.
  std::vector<std::string> fileLayouts;
  ZeroChoice zero;
  RematChoice remat;
  BucketSizes buckets;
  /// Whether communication runs while kernels compute.
  bool overlap = true;
  /// Bytes of memory that a rank may use; 0 for no limit.
  int64_t deviceBytes = 0;
  KernelChoices kernels;

  /// Whether the last microbatch follows the loop, so that its gradients can be exchanged as
  /// they come. From stage `gradients` on, every microbatch exchanges its own in the loop.
  bool peelsMicrobatches() const { return overlap && zero.stage < ZeroStage::gradients; }

  /// Whether a rank may keep a part of each gradient instead of all of it.
  bool mayDivideGradients() const { return zero.stage != ZeroStage::none; }

  /// Do the choices agree with each other?
  llvm::Error check() const;

  /// Do they agree with `program`? Assumes check().
  llvm::Error verify(const PlannedProgram &program) const;
};

/// Calls visit(name, field) for every choice of `plan`, in the order of its text. A new choice is
/// a member above and a line here.
template <typename Plan, typename Visitor> void visitFields(Plan &plan, Visitor &&visit) {
  visit("mesh", plan.mesh);
  visit("microbatches", plan.microbatches);
  visit("layouts", plan.layouts);
  visit("fileLayouts", plan.fileLayouts);
  visit("zeroStage", plan.zero.stage);
  visit("zeroAxes", plan.zero.axes);
  visit("zeroKeptBytes", plan.zero.keptBytes);
  visit("rematBytes", plan.remat.savedBytes);
  visit("rematNodes", plan.remat.nodes);
  visit("firstBucketBytes", plan.buckets.first);
  visit("bucketBytes", plan.buckets.later);
  visit("overlap", plan.overlap);
  visit("deviceBytes", plan.deviceBytes);
  visit("recompute", plan.kernels.recompute);
  visit("orderedSums", plan.kernels.orderedSums);
  visit("tf32", plan.kernels.tf32);
  visit("products", plan.kernels.products);
}

/// The choices that differ from those of `ProgramPlan()`, as `#dist.plan` writes them: `name =
/// value, ..`. Plans of one text are equal.
std::string toString(const ProgramPlan &plan);
bool operator==(const ProgramPlan &a, const ProgramPlan &b);
llvm::hash_code hash_value(const ProgramPlan &plan);

} // namespace dpc

#endif // DPC_PLANNING_PLAN_H

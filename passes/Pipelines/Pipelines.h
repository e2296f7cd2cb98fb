#ifndef DPC_PASSES_PIPELINES_PIPELINES_H
#define DPC_PASSES_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <optional>
#include <string>
#include <vector>

namespace dpc {

/// The levels of the IR, in the order programs pass them. See
/// docs/contracts.md for what holds at each.
enum class Level { import, step, placed, local, scheduled, exec, object };

/// The level of that name, or nullopt.
std::optional<Level> parseLevel(llvm::StringRef name);
/// Names of all levels, comma-separated, for messages.
llvm::StringRef levelNames();

/// Adds the pass that checks the contract of `level` (passes/Verify), which
/// fails with an error on the op that breaks it.
void addContractCheck(mlir::OpPassManager &manager, Level level);

/// What level `step` is made from.
struct StepOptions {
  /// cross-entropy, mse, l1, bce-with-logits or output:NAME; empty for
  /// inference, to which nothing below but the precision applies.
  std::string loss;
  double labelSmoothing = 0;
  int64_t ignoreIndex = -100;
  /// Axis of a cross-entropy's classes, from the end where negative; without
  /// one it follows from the shapes.
  std::optional<int64_t> classAxis;
  std::vector<int64_t> labelShape;
  std::string labelType;
  /// NAME[,OPTION=VALUE..]
  std::string optimizer;
  /// GLOB[;OPTION=VALUE..]
  std::vector<std::string> parameterGroups;
  double clipGradNorm = 0;
  /// Whether the norm of the gradients is a metric without clipping too.
  bool logGradNorm = false;
  std::string schedule = "constant";
  /// f32 or f64.
  std::string precision = "f32";
  /// Groups of samples that batch normalisation treats apart.
  int64_t batchGroups = 1;
};

/// import -> step: precision, then loss, gradients and optimizer, or the
/// inference form.
void buildStepPipeline(mlir::OpPassManager &manager,
                       const StepOptions &options);

/// What the program is planned for.
struct MachineOptions {
  /// What runs the kernels: a registered target (targets/Target.h), and a
  /// processor that it knows, or its first.
  std::string target = "cpu", processor;
};

/// How the program is spread over devices.
struct MeshOptions {
  /// NAME=SIZE in rank order, last fastest; sequential axes first.
  std::vector<std::string> axes;
  std::vector<std::string> sequentialAxes;
  /// Axes that cut the batch, outermost first.
  std::vector<std::string> batchAxes;
  /// Axes for which a loop of each contraction is chosen.
  std::vector<std::string> autoAxes;
  /// Layouts that state must have: GLOB=ENTRY;ENTRY.. (dpc-annotate-layouts).
  std::vector<std::string> shards;
  bool explain = false;
};

/// step -> placed: the machine, a layout for every value, explicit reshards.
void buildPlacedPipeline(mlir::OpPassManager &manager,
                         const MeshOptions &options,
                         const MachineOptions &machine);

/// placed -> local: per-device shapes, collectives, microbatch loops.
void buildLocalPipeline(mlir::OpPassManager &manager);

/// How native code is made.
struct NativeOptions {
  /// Bytes a rank may use; 0 for no limit.
  int64_t capacityBytes = 0;
  /// Bytes at which the first bucket of collectives closes, and every later
  /// one.
  int64_t firstBucketBytes = 1 << 20;
  int64_t bucketBytes = 25 << 20;
  /// Whether communication is hidden behind compute.
  bool overlap = true;
  /// Whether short computations are repeated instead of stored and read.
  bool recompute = true;
  /// Whether every sum adds its terms in their order: bits of results then do
  /// not depend on how ops are grouped into kernels.
  bool orderedSums = false;
  /// Whether the contracts of the levels passed are checked.
  bool verify = true;
  bool explain = false;
};

/// From per-device programs to level `last`: local (kernels formed), scheduled
/// (buffers placed) or exec (functions formed).
void buildNativePipeline(mlir::OpPassManager &manager,
                         const NativeOptions &options, Level last);

/// Registers every pass and one pipeline a level (`--dpc-<level>-pipeline`).
void registerAllPasses();

} // namespace dpc

#endif // DPC_PASSES_PIPELINES_PIPELINES_H

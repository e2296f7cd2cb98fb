#ifndef DPC_PASSES_PIPELINES_PIPELINES_H
#define DPC_PASSES_PIPELINES_PIPELINES_H

#include "planning/ProductMaker.h"

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

/// The options that the pipelines of all levels have.
template <typename Options> struct LevelOptions : mlir::PassPipelineOptions<Options> {
  template <typename T> using Option = mlir::detail::PassOptions::Option<T>;
  template <typename T> using ListOption = mlir::detail::PassOptions::ListOption<T>;

  Option<bool> verify{*this, "verify", llvm::cl::desc("Check the level's contract at its end"),
                      llvm::cl::init(true)};
};

/// The same of levels at which something is decided that --explain=all tells.
template <typename Options> struct ExplainedOptions : LevelOptions<Options> {
  typename LevelOptions<Options>::template Option<bool> explain{
      *this, "explain", llvm::cl::desc("Say in remarks what was decided"), llvm::cl::init(false)};
};

/// What level `step` is made by.
struct StepOptions : LevelOptions<StepOptions> {
  Option<std::string> loss{*this, "loss",
                           llvm::cl::desc("cross-entropy, mse, l1, bce-with-logits or output:NAME; "
                                          "empty for inference, to which nothing below but the "
                                          "precision applies")};
  Option<std::string> lossOutput{*this, "loss-output",
                                 llvm::cl::desc("The output that the loss is of (default: the "
                                                "first); not with output:NAME")};
  Option<double> labelSmoothing{*this, "label-smoothing", llvm::cl::init(0)};
  Option<int64_t> ignoreIndex{*this, "ignore-index", llvm::cl::init(-100)};
  ListOption<int64_t> labelBatchDim{
      *this, "label-batch-dim", llvm::cl::desc("The dimension of the labels that counts samples")};
  ListOption<int64_t> classAxis{
      *this, "class-axis",
      llvm::cl::desc("Axis of a cross-entropy's classes, from the end where "
                     "negative; without one it follows from the shapes")};
  ListOption<int64_t> labelShape{*this, "label-shape", llvm::cl::desc("See dpc-add-loss")};
  Option<std::string> labelType{*this, "label-type", llvm::cl::desc("See dpc-add-loss")};
  ListOption<std::string> metrics{*this, "metrics", llvm::cl::desc("See dpc-add-loss")};
  Option<std::string> optimizer{*this, "optimizer", llvm::cl::desc("NAME[,OPTION=VALUE..]")};
  ListOption<std::string> parameterGroups{*this, "groups", llvm::cl::desc("GLOB[;OPTION=VALUE..]")};
  Option<double> clipGradNorm{*this, "clip-grad-norm", llvm::cl::init(0)};
  Option<bool> logGradNorm{*this, "log-grad-norm", llvm::cl::init(false),
                           llvm::cl::desc("The norm of the gradients is a metric without clipping "
                                          "too")};
  Option<std::string> schedule{*this, "schedule", llvm::cl::init("constant"),
                               llvm::cl::desc("See dpc-apply-optimizer")};
  Option<std::string> precision{*this, "precision", llvm::cl::init("f32"),
                                llvm::cl::desc("f64, f32, or f32 with products of bf16 or f16")};
  Option<std::string> gradientType{*this, "gradient-type",
                                   llvm::cl::desc("See dpc-apply-optimizer")};
  Option<int64_t> batchGroups{*this, "batch-groups", llvm::cl::init(1),
                              llvm::cl::desc("Groups of samples that batch normalisation treats "
                                             "apart")};
};

/// import -> step: precision, then loss, gradients and optimizer, or the
/// inference form.
void buildStepPipeline(mlir::OpPassManager &manager, const StepOptions &options);

/// What the program is planned for, and how it is spread over devices.
struct PlacedOptions : ExplainedOptions<PlacedOptions> {
  Option<std::string> target{*this, "target", llvm::cl::init("cpu"),
                             llvm::cl::desc("See dpc-describe-machine")};
  Option<std::string> processor{*this, "processor", llvm::cl::desc("See dpc-describe-machine")};
  ListOption<std::string> axes{
      *this, "axes",
      llvm::cl::desc("NAME=SIZE in rank order, last fastest; sequential axes "
                     "first")};
  ListOption<std::string> sequentialAxes{*this, "sequential-axes",
                                         llvm::cl::desc("Axes that a loop walks on every device")};
  ListOption<std::string> batchAxes{*this, "batch-axes",
                                    llvm::cl::desc("Axes that cut the batch, outermost first")};
  ListOption<std::string> autoAxes{
      *this, "auto-axes", llvm::cl::desc("Axes for which a loop of each contraction is chosen")};
  ListOption<std::string> specs{
      *this, "specs", llvm::cl::desc("Layouts that the file asks for: see dpc-annotate-layouts")};
  ListOption<std::string> shards{*this, "shards",
                                 llvm::cl::desc("Layouts that are asked for: GLOB=ENTRY;ENTRY..")};
};

/// step -> placed: the machine, a layout for every value, explicit reshards.
void buildPlacedPipeline(mlir::OpPassManager &manager, const PlacedOptions &options);

struct LocalOptions : LevelOptions<LocalOptions> {};

/// placed -> local: per-device shapes, collectives, microbatch loops.
void buildLocalPipeline(mlir::OpPassManager &manager, const LocalOptions &options);

/// How a rank's program becomes kernels, buffers and an order.
struct ScheduledOptions : ExplainedOptions<ScheduledOptions> {
  Option<int64_t> capacityBytes{*this, "capacity-bytes", llvm::cl::init(0),
                                llvm::cl::desc("Bytes a rank may use; 0 for no limit")};
  Option<int64_t> firstBucketBytes{
      *this, "first-bucket-bytes", llvm::cl::init(1 << 20),
      llvm::cl::desc("Bytes at which the first bucket of collectives closes")};
  Option<int64_t> bucketBytes{*this, "bucket-bytes", llvm::cl::init(25 << 20),
                              llvm::cl::desc("The same of every later one")};
  Option<int64_t> zeroStage{*this, "zero-stage", llvm::cl::init(-1),
                            llvm::cl::desc("What state is divided (dpc-divide-updates)")};
  ListOption<std::string> zeroAxes{*this, "zero-axes",
                                   llvm::cl::desc("The mesh axes over which it is")};
  Option<int64_t> zeroKeepBytes{*this, "zero-keep-bytes", llvm::cl::init(0),
                                llvm::cl::desc("Bytes of cut parameters that are gathered once a "
                                               "step and kept")};
  Option<int64_t> rematBytes{*this, "remat-bytes", llvm::cl::init(0),
                             llvm::cl::desc("Bytes to save by computing the forward pass again "
                                            "in the backward pass; -1: all there are")};
  ListOption<std::string> rematNodes{*this, "remat-nodes",
                                     llvm::cl::desc("Globs of the ONNX nodes whose values are "
                                                    "computed again, in the place of others")};
  Option<bool> oneRegion{*this, "one-region", llvm::cl::init(false),
                         llvm::cl::desc("What collectives work on is as fast as other memory: all "
                                        "buffers may lie there")};
  Option<bool> overlap{*this, "overlap", llvm::cl::init(true),
                       llvm::cl::desc("Hide communication behind compute")};
  Option<bool> recompute{*this, "recompute", llvm::cl::init(true),
                         llvm::cl::desc("Repeat short computations instead of storing them")};
  Option<bool> orderedSums{*this, "ordered-sums", llvm::cl::init(false),
                           llvm::cl::desc("Every sum adds its terms in their order: bits do not "
                                          "depend on how ops are grouped into kernels")};
  Option<bool> tf32{*this, "tf32", llvm::cl::init(false),
                    llvm::cl::desc("Products of f32 may round their factors to tf32")};
  Option<ProductMaker> products{
      *this, "products", llvm::cl::init(ProductMaker::bySize),
      llvm::cl::desc("Who multiplies matrices on a device that may have a library for it"),
      llvm::cl::values(
          clEnumValN(ProductMaker::bySize, "auto", "The library, where they are large"),
          clEnumValN(ProductMaker::generated, "generated", "The kernels themselves"),
          clEnumValN(ProductMaker::library, "library", "The library, wherever it can"))};
};

/// local -> scheduled: kernels and their code, buffers with offsets, an order.
void buildScheduledPipeline(mlir::OpPassManager &manager, const ScheduledOptions &options);

struct ExecOptions : LevelOptions<ExecOptions> {};

/// scheduled -> exec: the functions that the runtime calls.
void buildExecPipeline(mlir::OpPassManager &manager, const ExecOptions &options);

/// Registers every pass and one pipeline a level (`--dpc-<level>-pipeline`).
void registerAllPasses();

} // namespace dpc

#endif // DPC_PASSES_PIPELINES_PIPELINES_H

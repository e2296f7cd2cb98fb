#ifndef DPC_PASSES_PIPELINES_PIPELINES_H
#define DPC_PASSES_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <optional>
#include <string>
#include <vector>

namespace dpc {

/// The levels of the IR, in the order in which a program passes them.
/// docs/contracts.md has the contract of each level.
enum class Level { import, step, placed, local, ordered, scheduled, exec, object };

/// The level that is called `name`, or nullopt.
std::optional<Level> parseLevel(llvm::StringRef name);
/// The names of all levels, separated by commas, for messages.
llvm::StringRef levelNames();

/// Adds the pass that checks the contract of `level` (passes/Verify). The pass
/// fails with an error on the op that breaks the contract.
void addContractCheck(mlir::OpPassManager &manager, Level level);

/// The options that the pipeline of every level has.
template <typename Options> struct LevelOptions : mlir::PassPipelineOptions<Options> {
  template <typename T> using Option = mlir::detail::PassOptions::Option<T>;
  template <typename T> using ListOption = mlir::detail::PassOptions::ListOption<T>;

  Option<bool> verify{*this, "verify", llvm::cl::desc("Check the level's contract at its end"),
                      llvm::cl::init(true)};
};

/// The options of a pipeline whose passes can report their decisions (--explain=all).
template <typename Options> struct ExplainedOptions : LevelOptions<Options> {
  typename LevelOptions<Options>::template Option<bool> explain{
      *this, "explain", llvm::cl::desc("Say in remarks what was decided"), llvm::cl::init(false)};
};

/// The options of the pipeline to level `step`: loss, metrics, optimizer and precision.
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

/// import -> step: sets the precision, and adds loss, gradients and optimizer. Without a loss,
/// makes the inference program `@infer`.
void buildStepPipeline(mlir::OpPassManager &manager, const StepOptions &options);

/// The options of the pipeline to level `placed`. They name the machine for which the program is
/// planned. The module's plan (`dist.plan`) says how the program is distributed over devices.
struct PlacedOptions : ExplainedOptions<PlacedOptions> {
  Option<std::string> target{*this, "target", llvm::cl::init("cpu"),
                             llvm::cl::desc("See dpc-describe-machine")};
  Option<std::string> processor{*this, "processor", llvm::cl::desc("See dpc-describe-machine")};
  Option<std::string> topology{*this, "topology", llvm::cl::desc("See dpc-describe-machine")};
};

/// step -> placed: adds the machine, a layout for every value, and explicit reshards, as the
/// module's plan (`dist.plan`) requests.
void buildPlacedPipeline(mlir::OpPassManager &manager, const PlacedOptions &options);

struct LocalOptions : LevelOptions<LocalOptions> {};

/// placed -> local: gives values their shapes on one device, and makes collectives and loops over
/// microbatches.
void buildLocalPipeline(mlir::OpPassManager &manager, const LocalOptions &options);

struct OrderedOptions : ExplainedOptions<OrderedOptions> {};

/// local -> ordered: forms kernels and buckets of collectives, and orders the ops, as the module's
/// plan requests. The ops still compute on tensors.
void buildOrderedPipeline(mlir::OpPassManager &manager, const OrderedOptions &options);

struct ScheduledOptions : ExplainedOptions<ScheduledOptions> {};

/// ordered -> scheduled: turns tensors into buffers, gives the buffers their offsets, and
/// generates the code of kernels, as the module's plan requests.
void buildScheduledPipeline(mlir::OpPassManager &manager, const ScheduledOptions &options);

struct ExecOptions : LevelOptions<ExecOptions> {};

/// scheduled -> exec: forms the functions that the runtime calls.
void buildExecPipeline(mlir::OpPassManager &manager, const ExecOptions &options);

/// Registers every pass, and one pipeline per level (`--dpc-<level>-pipeline`).
void registerAllPasses();

} // namespace dpc

#endif // DPC_PASSES_PIPELINES_PIPELINES_H

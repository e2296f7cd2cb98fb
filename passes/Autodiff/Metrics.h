#ifndef DPC_PASSES_AUTODIFF_METRICS_H
#define DPC_PASSES_AUTODIFF_METRICS_H

#include "dialects/NN/IR/HostFacts.h"
#include "passes/Autodiff/Loss.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace dpc {

/// The loss that metrics stand beside, in @eval.
struct EvaluatedLoss {
  /// As --loss has it, without options: cross-entropy, .., output:NAME.
  llvm::StringRef kind;
  /// The output that it is of, and its name in the graph.
  mlir::Value output;
  llvm::StringRef outputName;
  /// Of the output; -1 where the loss has no classes.
  int64_t classAxis = -1;
  LossValue value;
  LossFunction::Options options;
  /// Samples from it on do not count, a rank-0 i64; null for a loss in the graph.
  mlir::Value validRows;
};

/// One metric of a batch.
struct MetricValue {
  std::string name; ///< in the log: top_5
  mlir::Value value;
  nn::MetricMean mean;
};

/// Why a program of the loss `kind` has no metric of that name, for users; empty:
/// it may have. Shapes are not looked at.
std::string findMetricDefect(llvm::StringRef name, llvm::StringRef kind);

/// Builds the metric `name` (accuracy, top-5, .., output:NAME), a rank-0 value of
/// the loss's type. A failure, with an error of one line, where it is unknown or
/// does not fit the loss, the classes or the outputs of `function`.
mlir::FailureOr<MetricValue> buildMetric(mlir::func::FuncOp function, mlir::OpBuilder &builder,
                                         llvm::StringRef name, const EvaluatedLoss &loss);

/// "a, b": the graph's outputs, for messages.
std::string getOutputNames(mlir::func::FuncOp function);

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_METRICS_H

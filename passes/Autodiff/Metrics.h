#ifndef DPC_PASSES_AUTODIFF_METRICS_H
#define DPC_PASSES_AUTODIFF_METRICS_H

#include "dialects/NN/IR/HostFacts.h"
#include "passes/Autodiff/Loss.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace dpc {

/// A loss, with the values from which @eval computes its metrics.
struct EvaluatedLoss {
  /// The name of the loss as in --loss, without its options: cross-entropy, .., output:NAME.
  llvm::StringRef kind;
  /// The output that the loss reads, and the name of this output in the graph.
  mlir::Value output;
  llvm::StringRef outputName;
  /// The axis of the classes in the output; -1 if the loss has no classes.
  int64_t classAxis = -1;
  LossValue value;
  LossFunction::Options options;
  /// A rank-0 i64: only the first `validRows` samples of the batch count. Null in @step, and if
  /// the loss is an output of the ONNX model (output:NAME).
  mlir::Value validRows;
};

/// One metric, computed over one batch.
struct MetricValue {
  std::string name; ///< the name in the log, e.g. top_5
  mlir::Value value;
  nn::MetricMean mean;
};

/// Returns a message for users that says why a program with the loss `kind` cannot have the metric
/// `name`. Returns an empty string if it can have the metric. Does not check shapes.
std::string findMetricDefect(llvm::StringRef name, llvm::StringRef kind);

/// Builds the metric `name` (accuracy, top-5, .., output:NAME) as a rank-0 value of the loss's
/// type. Fails with an error of one line if the metric is unknown, or if it does not fit the loss,
/// the number of classes or the outputs of `function`.
mlir::FailureOr<MetricValue> buildMetric(mlir::func::FuncOp function, mlir::OpBuilder &builder,
                                         llvm::StringRef name, const EvaluatedLoss &loss);

/// Returns a list of the names of the graph's outputs for messages, e.g. "a, b".
std::string getOutputNames(mlir::func::FuncOp function);

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_METRICS_H

#ifndef DPC_PASSES_AUTODIFF_LOSS_H
#define DPC_PASSES_AUTODIFF_LOSS_H

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/NNDialect.h"

#include <memory>
#include <optional>
#include <string>

namespace dpc {

/// A mean loss: the numerator and denominator stay apart until the end, so
/// that a mean over microbatches is the mean over the batch.
struct LossValue {
  /// Rank-0, of the model's float type.
  mlir::Value loss;
  /// Rank-0 float: how many labels or elements the mean is over.
  mlir::Value count;
  /// What the output is compared with, in the type that the loss computes in;
  /// null for a loss in the graph.
  mlir::Value label;
  /// i1 of the labels' shape: which of them count; null: all.
  mlir::Value counts;
};

/// The sum of all elements, rank-0.
mlir::Value sumAll(nn::Expressions e, mlir::Value x);

/// i1 tensor of `shape`: whether the sample (the index along `dim`) is below
/// `validRows`, a rank-0 i64.
mlir::Value rowIsValid(nn::Expressions e, llvm::ArrayRef<int64_t> shape, mlir::Value validRows,
                       int64_t dim);

/// One kind of loss outside the graph.
class LossFunction {
public:
  struct Options {
    double labelSmoothing = 0;
    int64_t ignoreIndex = -100;
    /// The axis of the classes; without one it follows from the shapes.
    std::optional<int64_t> classAxis;
    /// Without one: from the output's shape.
    std::optional<llvm::ArrayRef<int64_t>> labelShape;
    /// Null: the loss's default.
    mlir::Type labelType;
    /// The labels' dimension that counts samples.
    int64_t sampleDim = 0;
  };

  /// What an output is compared with.
  struct Labels {
    mlir::RankedTensorType type;
    /// The output's axis of classes; -1 for a loss that has none.
    int64_t classAxis = -1;
  };

  virtual ~LossFunction() = default;

  /// The labels for a model output of type `output`; a failure with an error at
  /// `loc` when the two do not fit.
  virtual mlir::FailureOr<Labels> getLabels(mlir::Location loc, mlir::RankedTensorType output,
                                            const Options &options) const = 0;

  /// Builds the loss of `output` against `label`, whose classes lie along
  /// `classAxis`. `validRows`, if not null, is a rank-0 i64: samples from it on
  /// do not count.
  virtual LossValue build(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value output,
                          mlir::Value label, int64_t classAxis, mlir::Value validRows,
                          const Options &options) const = 0;

  /// The loss of that name, or null; `known` receives all names.
  static std::unique_ptr<LossFunction> create(llvm::StringRef name, std::string &known);
};

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_LOSS_H

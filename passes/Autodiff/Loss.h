#ifndef DPC_PASSES_AUTODIFF_LOSS_H
#define DPC_PASSES_AUTODIFF_LOSS_H

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/NNDialect.h"

#include <memory>
#include <optional>
#include <string>

namespace dpc {

/// A mean loss over a batch: the sum over all counted labels or elements, divided by their number.
/// Sum and number are both computed over the complete batch, so that with microbatches the loss is
/// still the mean over the batch and not a mean of means.
struct LossValue {
  /// Rank-0, of the model's float type.
  mlir::Value loss;
  /// Rank-0 float: the number of labels or elements in the mean.
  mlir::Value count;
  /// The labels, converted to the type in which the loss compares them with the output. Null for a
  /// loss in the graph.
  mlir::Value label;
  /// i1 tensor of the labels' shape: whether each label counts. Null if all count.
  mlir::Value counts;
};

/// Builds the sum of all elements of `x`, rank 0.
mlir::Value sumAll(nn::Expressions e, mlir::Value x);

/// Builds an i1 tensor of shape `shape`: whether the number of the sample, which is the index along
/// `dim`, is below `validRows`, a rank-0 i64.
mlir::Value rowIsValid(nn::Expressions e, llvm::ArrayRef<int64_t> shape, mlir::Value validRows,
                       int64_t dim);

/// One kind of loss outside the graph.
class LossFunction {
public:
  struct Options {
    double labelSmoothing = 0;
    int64_t ignoreIndex = -100;
    /// The axis of the classes. If it is not given, it follows from the shapes (ClassAxis).
    std::optional<int64_t> classAxis;
    /// The shape of the labels. If it is not given, it follows from the output's shape.
    std::optional<llvm::ArrayRef<int64_t>> labelShape;
    /// The element type of the labels. Null for the default of the loss.
    mlir::Type labelType;
    /// The labels' dimension that counts samples.
    int64_t sampleDim = 0;
  };

  /// The labels that a loss needs.
  struct Labels {
    mlir::RankedTensorType type;
    /// The output's axis of classes; -1 for a loss that has none.
    int64_t classAxis = -1;
  };

  virtual ~LossFunction() = default;

  /// Returns the labels that the loss needs for a model output of type `output`. Fails with an
  /// error at `loc` if the output or the options do not fit the loss.
  virtual mlir::FailureOr<Labels> getLabels(mlir::Location loc, mlir::RankedTensorType output,
                                            const Options &options) const = 0;

  /// Builds the loss of `output` against `label`. The classes of `output` are along `classAxis`.
  /// `validRows`, if not null, is a rank-0 i64; samples with this index or a larger one do not
  /// count.
  virtual LossValue build(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value output,
                          mlir::Value label, int64_t classAxis, mlir::Value validRows,
                          const Options &options) const = 0;

  /// Returns the loss with the name `name`, or null. `known` receives a list of all names.
  static std::unique_ptr<LossFunction> create(llvm::StringRef name, std::string &known);
};

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_LOSS_H

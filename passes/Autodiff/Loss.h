#ifndef DPC_PASSES_AUTODIFF_LOSS_H
#define DPC_PASSES_AUTODIFF_LOSS_H

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/NNDialect.h"

#include <memory>
#include <optional>
#include <string>

namespace dpc {

/// A mean loss over a batch: the sum of the losses of all labels or elements that count, divided by
/// their number. Both the sum and the number are computed over the complete batch. With
/// microbatches, the loss is therefore the mean over the batch, and not a mean of the means of
/// microbatches.
struct LossValue {
  /// Rank-0, of the model's float type: the mean loss.
  mlir::Value loss;
  /// Rank-0 float: the number of labels or elements in the mean. Null if the loss is an output of
  /// the ONNX model.
  mlir::Value count;
  /// The labels, converted to the type in which the loss compares them with the output. Null if
  /// the loss is an output of the ONNX model.
  mlir::Value label;
  /// An i1 tensor of the labels' shape: true for each label that counts. Null if all labels count.
  mlir::Value counts;
};

/// Builds a rank-0 tensor: the sum of all elements of `x`.
mlir::Value sumAll(nn::Expressions e, mlir::Value x);

/// Builds an i1 tensor of shape `shape` that is true for the first `validRows` samples. `dim` is
/// the batch dimension, and `validRows` is a rank-0 i64.
mlir::Value rowIsValid(nn::Expressions e, llvm::ArrayRef<int64_t> shape, mlir::Value validRows,
                       int64_t dim);

/// A loss that dpc builds itself, e.g. cross-entropy; one subclass per loss. A model can instead
/// have its loss as an output of the ONNX graph; then no LossFunction is used.
class LossFunction {
public:
  struct Options {
    double labelSmoothing = 0;
    int64_t ignoreIndex = -100;
    /// The axis of the classes in the output. If it is not given, it follows from the shapes
    /// (ClassAxis).
    std::optional<int64_t> classAxis;
    /// The shape of the labels. If it is not given, it follows from the shape of the output.
    std::optional<llvm::ArrayRef<int64_t>> labelShape;
    /// The element type of the labels. If it is null, the loss chooses the type.
    mlir::Type labelType;
    /// The batch dimension of the labels.
    int64_t sampleDim = 0;
  };

  /// The labels that a loss needs: their type, and the class axis of the output.
  struct Labels {
    mlir::RankedTensorType type;
    /// The axis of the output along which the classes lie; -1 for a loss without classes.
    int64_t classAxis = -1;
  };

  virtual ~LossFunction() = default;

  /// Returns the labels that the loss needs for a model output of type `output`. Fails with an
  /// error at `loc` if the output or the options do not fit the loss.
  virtual mlir::FailureOr<Labels> getLabels(mlir::Location loc, mlir::RankedTensorType output,
                                            const Options &options) const = 0;

  /// Builds the loss that compares `output` with `label`. The classes of `output` are along
  /// `classAxis`. If `validRows`, a rank-0 i64, is not null, only the first `validRows` samples
  /// count.
  virtual LossValue build(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value output,
                          mlir::Value label, int64_t classAxis, mlir::Value validRows,
                          const Options &options) const = 0;

  /// Returns the loss with the name `name`, or null. `known` receives a list of all names.
  static std::unique_ptr<LossFunction> create(llvm::StringRef name, std::string &known);
};

} // namespace dpc

#endif // DPC_PASSES_AUTODIFF_LOSS_H

#ifndef DPC_DIALECTS_NN_IR_HOSTFACTS_H
#define DPC_DIALECTS_NN_IR_HOSTFACTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <limits>
#include <optional>

namespace dpc::nn {

/// Integer attribute of a function result that is an output: the dimension that
/// counts samples. One sample is a run of (extent of this dimension / batch size)
/// indices. `dpc-assign-layouts` sets the attribute, because its analysis follows
/// the batch through the program. The attribute is absent if the output is one
/// value for the complete batch. After lowering to exec, the exec.persistent of the
/// output has the attribute.
constexpr llvm::StringLiteral kBatchDimAttrName = "nn.batch_dim";

/// Attribute of a function argument that is an input or a label of integers: the
/// bounds of these integers. It is [low, high] or [low, high, ignored] for all
/// elements, or a list of runs [count, low, high, ..]. A run has the bounds of the
/// next `count` elements of a sample, or of the complete array if the argument has
/// no batch dimension. Every element must be between low and high, or equal the
/// ignored value. The host checks this when it reads data. After lowering to exec,
/// the exec.persistent of the argument has the attribute.
constexpr llvm::StringLiteral kBoundsAttrName = "nn.bounds";

/// Attribute of a result of @eval that is a metric: a keyword that says how the
/// host combines the values of several batches (MetricMean). It is absent for
/// MetricMean::labels. After lowering to exec, the exec.persistent of the metric
/// has the attribute.
constexpr llvm::StringLiteral kMeanAttrName = "nn.mean";

/// How the host combines the values of a metric over several batches.
enum class MetricMean {
  labels,    ///< the mean; the weight of a batch is the number of its labels that are not ignored
  geometric, ///< e to the mean of the logarithms, with the weights of `labels`
  samples,   ///< the mean; the weight of a batch is the number of its samples that are not padding
  batches,   ///< the mean over complete batches, for a metric that is one number per batch
};

/// Unit attribute of an nn.variable that is a parameter which is not trained. The
/// compiler treats it as a buffer, and does not fold its value. The host treats it
/// as a parameter, so a file of weights has it.
constexpr llvm::StringLiteral kFrozenAttrName = "nn.frozen";

/// Unit attribute of an nn.variable that the state_dict of the PyTorch module does
/// not have: a buffer that is not persistent, or a constant of the graph. Files of
/// parameters omit the variable; checkpoints have it.
constexpr llvm::StringLiteral kUnsavedAttrName = "nn.unsaved";

/// Unit attribute of an nn.variable whose rows are in the order in which the graph
/// looks them up. The rows of the PyTorch module's parameter may have another
/// order.
constexpr llvm::StringLiteral kReorderedAttrName = "nn.reordered";

/// The bounds of an integer: it must be between `low` and `high`, or equal
/// `ignored`. By default, any integer satisfies the bounds.
struct IntegerBounds {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> ignored;

  bool allows(int64_t value) const { return (value >= low && value <= high) || value == ignored; }
  /// Whether there are no bounds.
  bool allowsAll() const { return *this == IntegerBounds(); }
  /// The intersection of these bounds and `other`.
  IntegerBounds intersect(const IntegerBounds &other) const;
  /// The bounds that x must satisfy if x + `amount` must satisfy these bounds.
  IntegerBounds before(int64_t amount) const;

  bool operator==(const IntegerBounds &other) const {
    return low == other.low && high == other.high && ignored == other.ignored;
  }
  bool operator!=(const IntegerBounds &other) const { return !(*this == other); }
};

/// The bounds of `count` consecutive elements of a sample. A count of 0 means all
/// elements.
struct BoundsRun {
  int64_t count;
  IntegerBounds bounds;
};

/// Sets kBatchDimAttrName on result `index`, unless `dim` is -1.
void setBatchDim(mlir::FunctionOpInterface function, unsigned index, int64_t dim);
/// Sets kMeanAttrName on result `index`, unless `mean` is the default,
/// MetricMean::labels.
void setMean(mlir::FunctionOpInterface function, unsigned index, MetricMean mean);
/// The mean that `attribute` denotes; MetricMean::labels if it is null. Fails if it
/// is not a keyword of MetricMean.
mlir::FailureOr<MetricMean> meanFrom(mlir::Attribute attribute);
/// Sets kBoundsAttrName on argument `index`.
void setBounds(mlir::FunctionOpInterface function, unsigned index, llvm::ArrayRef<BoundsRun> runs);
/// The bounds that `attribute` denotes; none if it is null. Fails if it does not
/// have the form that setBounds writes.
mlir::FailureOr<llvm::SmallVector<BoundsRun>> boundsFrom(mlir::Attribute attribute);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_HOSTFACTS_H

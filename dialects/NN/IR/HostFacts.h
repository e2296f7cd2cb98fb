#ifndef DPC_DIALECTS_NN_IR_HOSTFACTS_H
#define DPC_DIALECTS_NN_IR_HOSTFACTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <limits>
#include <optional>

namespace dpc::nn {

/// Integer attribute of a result that is an output: the dimension that counts
/// samples. Each sample is extent / batch consecutive indices of it. It is set
/// together with the layouts, whose analysis knows how the batch passes through the
/// program. It is absent if the output is one value for the complete batch. When
/// the function is gone, the output's exec.persistent has the attribute.
constexpr llvm::StringLiteral kBatchDimAttrName = "nn.batch_dim";

/// Bounds of the integers in an argument that is an input or a label: [low, high]
/// or [low, high, ignored] for all its elements, or a list of runs [count, low,
/// high, ..], each for the next `count` elements of a sample (of the complete array
/// if the argument has no batch dimension). Every element is between low and high
/// or equals the ignored value, which the host checks when it reads data. When the
/// function is gone, the argument's exec.persistent has the attribute.
constexpr llvm::StringLiteral kBoundsAttrName = "nn.bounds";

/// Keyword of a result of @eval that is a metric: how the host combines the values
/// of many batches (MetricMean). It is absent for a mean over the labels that
/// count, and for counts. When the function is gone, the metric's exec.persistent
/// has the attribute.
constexpr llvm::StringLiteral kMeanAttrName = "nn.mean";

/// How the host combines the values of a metric over several batches.
enum class MetricMean {
  labels,    ///< the mean, weighted by the labels that count
  geometric, ///< e to the mean of the logarithms, weighted by the labels that count
  samples,   ///< the mean, weighted by the samples that count
  batches,   ///< the mean over complete batches: the metric is one number for all rows
};

/// Unit attribute of an nn.variable: it is a parameter that is not trained. In the
/// program it is a buffer whose value is not folded at compile time. For the host
/// it is a parameter that a file of weights provides.
constexpr llvm::StringLiteral kFrozenAttrName = "nn.frozen";

/// Unit attribute of an nn.variable: the module's state_dict does not have it (a
/// buffer that is not persistent, or a constant of the graph), so a file of
/// parameters omits it. Checkpoints have it.
constexpr llvm::StringLiteral kUnsavedAttrName = "nn.unsaved";

/// Unit attribute of an nn.variable: its rows are in the order in which the graph
/// looks them up, which may differ from the order in the module.
constexpr llvm::StringLiteral kReorderedAttrName = "nn.reordered";

/// The integers that a value may be: any, unless the bounds are narrowed.
struct IntegerBounds {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> ignored;

  bool allows(int64_t value) const { return (value >= low && value <= high) || value == ignored; }
  /// Whether there are no bounds.
  bool allowsAll() const { return *this == IntegerBounds(); }
  /// The intersection of both bounds.
  IntegerBounds intersect(const IntegerBounds &other) const;
  /// The bounds of x that follow if x + `amount` has these bounds.
  IntegerBounds before(int64_t amount) const;

  bool operator==(const IntegerBounds &other) const {
    return low == other.low && high == other.high && ignored == other.ignored;
  }
  bool operator!=(const IntegerBounds &other) const { return !(*this == other); }
};

/// The bounds of `count` consecutive elements of a sample; a count of 0 stands for
/// all elements.
struct BoundsRun {
  int64_t count;
  IntegerBounds bounds;
};

/// Sets kBatchDimAttrName on result `index`, unless `dim` is -1.
void setBatchDim(mlir::FunctionOpInterface function, unsigned index, int64_t dim);
/// Sets kMeanAttrName on result `index`, unless it is the usual mean over labels.
void setMean(mlir::FunctionOpInterface function, unsigned index, MetricMean mean);
/// The mean that this attribute denotes; `labels` for null. Fails if the attribute
/// has another form.
mlir::FailureOr<MetricMean> meanFrom(mlir::Attribute attribute);
/// Sets kBoundsAttrName on argument `index`.
void setBounds(mlir::FunctionOpInterface function, unsigned index, llvm::ArrayRef<BoundsRun> runs);
/// The bounds in this attribute; none for null. Fails if the attribute has another
/// form.
mlir::FailureOr<llvm::SmallVector<BoundsRun>> boundsFrom(mlir::Attribute attribute);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_HOSTFACTS_H

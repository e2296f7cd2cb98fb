#ifndef DPC_DIALECTS_NN_IR_HOSTFACTS_H
#define DPC_DIALECTS_NN_IR_HOSTFACTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <limits>
#include <optional>

namespace dpc::nn {

/// Integer attribute of a result that is an output: the dimension that counts
/// samples, each sample being extent / batch consecutive indices of it. Set
/// with the layouts, which know how the batch runs through the program; absent
/// where the output is one value of the whole batch. The output's
/// exec.persistent has it after the function is gone.
constexpr llvm::StringLiteral kBatchDimAttrName = "nn.batch_dim";

/// Integers of an argument that is an input or a label: [low, high] or [low,
/// high, ignored] for all its elements, or a list of runs [count, low, high,
/// ..], each of the next `count` elements of a sample (of the whole array,
/// where the argument has no batch dimension). Every element lies between low
/// and high or is the ignored value, which the host checks as it reads data.
/// The argument's exec.persistent has it after the function is gone.
constexpr llvm::StringLiteral kBoundsAttrName = "nn.bounds";

/// Keyword of a result of @eval that is a metric, by which the host makes one
/// value of those of many batches (MetricMean); absent for a mean over labels
/// that count, and for counts. The metric's exec.persistent has it after the
/// function is gone.
constexpr llvm::StringLiteral kMeanAttrName = "nn.mean";

/// How the host makes one value of a metric from its values of several batches.
enum class MetricMean {
  labels,    ///< the mean, weighted by the labels that count
  geometric, ///< e to the mean of the logarithms, weighted by the labels that count
  samples,   ///< the mean, weighted by the samples that count
  batches,   ///< the mean over whole batches: it is one number of all rows
};

/// Unit attribute of an nn.variable: it is a parameter that is not trained. In
/// the program it is a buffer, whose value nothing is computed from before the
/// program runs; to the host it is a parameter that a file of weights brings.
constexpr llvm::StringLiteral kFrozenAttrName = "nn.frozen";

/// Unit attribute of an nn.variable: the module's own list of state does not have
/// it (a buffer that is not persistent, a constant of the graph), so a file of
/// parameters leaves it out. Checkpoints have it.
constexpr llvm::StringLiteral kUnsavedAttrName = "nn.unsaved";

/// Unit attribute of an nn.variable: its rows are in the order in which the graph
/// looks them up, which need not be the module's.
constexpr llvm::StringLiteral kReorderedAttrName = "nn.reordered";

/// Which integers something may be: any, unless made narrower.
struct IntegerBounds {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> ignored;

  bool allows(int64_t value) const { return (value >= low && value <= high) || value == ignored; }
  /// Nothing is asked.
  bool allowsAll() const { return *this == IntegerBounds(); }
  /// What both allow.
  IntegerBounds intersect(const IntegerBounds &other) const;
  /// Bounds of x where x + `amount` has these.
  IntegerBounds before(int64_t amount) const;

  bool operator==(const IntegerBounds &other) const {
    return low == other.low && high == other.high && ignored == other.ignored;
  }
  bool operator!=(const IntegerBounds &other) const { return !(*this == other); }
};

/// Bounds of `count` consecutive elements of a sample; a count of 0 stands for
/// all of them.
struct BoundsRun {
  int64_t count;
  IntegerBounds bounds;
};

/// Sets kBatchDimAttrName on result `index`, unless `dim` is -1.
void setBatchDim(mlir::FunctionOpInterface function, unsigned index, int64_t dim);
/// Sets kMeanAttrName on result `index`, unless it is the usual mean over labels.
void setMean(mlir::FunctionOpInterface function, unsigned index, MetricMean mean);
/// The mean that such an attribute stands for; `labels` for null. Fails where the
/// attribute has another form.
mlir::FailureOr<MetricMean> meanFrom(mlir::Attribute attribute);
/// Sets kBoundsAttrName on argument `index`.
void setBounds(mlir::FunctionOpInterface function, unsigned index, llvm::ArrayRef<BoundsRun> runs);
/// The bounds in such an attribute; none for null. Fails where the attribute
/// has another form.
mlir::FailureOr<llvm::SmallVector<BoundsRun>> boundsFrom(mlir::Attribute attribute);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_HOSTFACTS_H

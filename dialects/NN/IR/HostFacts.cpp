// Reads and writes the attributes that tell the host about batch dimensions, bounds
// of integers and means of metrics.

#include "dialects/NN/IR/HostFacts.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace dpc::nn;

IntegerBounds IntegerBounds::intersect(const IntegerBounds &other) const {
  IntegerBounds both = {std::max(low, other.low), std::min(high, other.high), std::nullopt};
  for (const auto &[one, two] : {std::make_pair(this, &other), std::make_pair(&other, this)})
    if (one->ignored && two->allows(*one->ignored))
      both.ignored = one->ignored;
  return both;
}

IntegerBounds IntegerBounds::before(int64_t amount) const {
  IntegerBounds result;
  // A bound that overflows 64 bits is dropped.
  if (llvm::SubOverflow(low, amount, result.low))
    result.low = std::numeric_limits<int64_t>::min();
  if (llvm::SubOverflow(high, amount, result.high))
    result.high = std::numeric_limits<int64_t>::max();
  int64_t value;
  if (ignored && !llvm::SubOverflow(*ignored, amount, value))
    result.ignored = value;
  return result;
}

void dpc::nn::setBatchDim(FunctionOpInterface function, unsigned index, int64_t dim) {
  auto type = IntegerType::get(function->getContext(), 64);
  if (dim >= 0)
    function.setResultAttr(index, kBatchDimAttrName, IntegerAttr::get(type, dim));
}

void dpc::nn::setMean(FunctionOpInterface function, unsigned index, MetricMean mean) {
  static constexpr llvm::StringLiteral names[] = {"", "geometric", "samples", "batches"};
  if (mean != MetricMean::labels)
    function.setResultAttr(index, kMeanAttrName,
                           StringAttr::get(function->getContext(), names[unsigned(mean)]));
}

FailureOr<MetricMean> dpc::nn::meanFrom(Attribute attribute) {
  if (!attribute)
    return MetricMean::labels;
  auto name = llvm::dyn_cast<StringAttr>(attribute);
  return llvm::StringSwitch<FailureOr<MetricMean>>(name ? name.getValue() : "")
      .Case("geometric", MetricMean::geometric)
      .Case("samples", MetricMean::samples)
      .Case("batches", MetricMean::batches)
      .Default(failure());
}

/// The array of `prefix` followed by [low, high] or [low, high, ignored].
static DenseI64ArrayAttr toAttr(MLIRContext *context, llvm::SmallVector<int64_t> prefix,
                                const IntegerBounds &bounds) {
  llvm::append_values(prefix, bounds.low, bounds.high);
  if (bounds.ignored)
    prefix.push_back(*bounds.ignored);
  return DenseI64ArrayAttr::get(context, prefix);
}

void dpc::nn::setBounds(FunctionOpInterface function, unsigned index,
                        llvm::ArrayRef<BoundsRun> runs) {
  MLIRContext *context = function->getContext();
  llvm::SmallVector<Attribute> attributes;
  for (const BoundsRun &run : runs)
    attributes.push_back(toAttr(context, {run.count}, run.bounds));
  function.setArgAttr(index, kBoundsAttrName,
                      runs.size() == 1 ? Attribute(toAttr(context, {}, runs[0].bounds))
                                       : ArrayAttr::get(context, attributes));
}

static std::optional<IntegerBounds> boundsIn(llvm::ArrayRef<int64_t> values) {
  if (values.size() < 2 || values.size() > 3)
    return std::nullopt;
  IntegerBounds bounds = {values[0], values[1], std::nullopt};
  if (values.size() > 2)
    bounds.ignored = values[2];
  return bounds;
}

FailureOr<llvm::SmallVector<BoundsRun>> dpc::nn::boundsFrom(Attribute attribute) {
  llvm::SmallVector<BoundsRun> runs;
  if (!attribute)
    return runs;
  if (auto values = llvm::dyn_cast<DenseI64ArrayAttr>(attribute)) {
    std::optional<IntegerBounds> bounds = boundsIn(values);
    if (!bounds)
      return failure();
    runs.push_back({0, *bounds});
    return runs;
  }
  auto list = llvm::dyn_cast<ArrayAttr>(attribute);
  if (!list || list.size() < 2)
    return failure();
  for (Attribute each : list) {
    auto values = llvm::dyn_cast<DenseI64ArrayAttr>(each);
    if (!values || values.empty() || values[0] < 1)
      return failure();
    std::optional<IntegerBounds> bounds = boundsIn(values.asArrayRef().drop_front());
    if (!bounds)
      return failure();
    runs.push_back({values[0], *bounds});
  }
  return runs;
}

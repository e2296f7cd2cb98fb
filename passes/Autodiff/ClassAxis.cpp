// Checks the axis that the user gives for the classes of a cross-entropy. Without such an axis,
// finds it from the shapes of the logits and the labels.

#include "passes/Autodiff/ClassAxis.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace dpc;

static Error fail(const formatv_object_base &message) {
  return createStringError(inconvertibleErrorCode(), message.str());
}

static std::string printed(ArrayRef<int64_t> shape) {
  return formatv("[{0:$[, ]}]", make_range(shape.begin(), shape.end())).str();
}

static SmallVector<int64_t> without(ArrayRef<int64_t> shape, int64_t axis) {
  SmallVector<int64_t> rest(shape);
  rest.erase(rest.begin() + axis);
  return rest;
}

/// Returns the axes from `first` on that fit. An axis fits if `logits` without this axis have the
/// shape `labels`.
static SmallVector<int64_t> fittingAxes(ArrayRef<int64_t> logits, ArrayRef<int64_t> labels,
                                        int64_t first) {
  SmallVector<int64_t> axes;
  for (int64_t axis = first, rank = logits.size(); axis < rank; ++axis)
    if (ArrayRef<int64_t>(without(logits, axis)) == labels)
      axes.push_back(axis);
  return axes;
}

/// Returns the end of an error message. It says why no axis fits the shape `labels`. If the
/// labels may be one-hot rows or have one dimension of extent 1 too many, it also says which
/// shape would fit. `axis` is the class axis of one-hot rows.
static std::string explainMisfit(ArrayRef<int64_t> logits, ArrayRef<int64_t> labels, int64_t axis) {
  if (labels == logits)
    return formatv("class numbers of shape {0} do, the argmax along axis {1} of one-hot rows",
                   printed(without(labels, axis)), axis);
  for (int64_t d = labels.size() - 1; d >= 0; --d) {
    const SmallVector<int64_t> rest = without(labels, d);
    if (labels[d] == 1 && !fittingAxes(logits, rest, /*first=*/1).empty())
      return formatv("class numbers of shape {0} do, without dimension {1} of extent 1",
                     printed(rest), d);
  }
  return "no axis can be taken away that leaves their shape";
}

Expected<ClassAxis> ClassAxis::choose(ArrayRef<int64_t> logits,
                                      std::optional<ArrayRef<int64_t>> labels,
                                      std::optional<int64_t> axis) {
  const int64_t rank = logits.size();
  if (rank == 0)
    return fail(formatv("cross-entropy needs a class axis, but the output is a scalar"));
  if (axis && (*axis < -rank || *axis >= rank))
    return fail(formatv("cross-entropy,axis={0}: the logits of shape {1} have axes "
                        "from {2} to {3}",
                        *axis, printed(logits), -rank, rank - 1));
  if (axis) {
    ClassAxis given{*axis < 0 ? *axis + rank : *axis, {}};
    given.labels = without(logits, given.axis);
    if (!labels || *labels == ArrayRef<int64_t>(given.labels))
      return given;
    SmallVector<int64_t> others = fittingAxes(logits, *labels, 0);
    return fail(formatv("labels of shape {0} do not fit logits of shape {1} with the "
                        "classes along axis {2}: {3}",
                        printed(*labels), printed(logits), given.axis,
                        others.empty() ? explainMisfit(logits, *labels, given.axis)
                                       : formatv("they fit axis {0}", others[0]).str()));
  }
  if (rank == 1)
    return fail(formatv("cross-entropy needs a class axis beside that of samples, but the logits "
                        "have shape {0}: for one value a sample there are bce-with-logits and mse",
                        printed(logits)));
  const int64_t usual = rank >= 4 ? 1 : rank - 1;
  SmallVector<int64_t> wanted = labels ? SmallVector<int64_t>(*labels) : without(logits, usual);
  SmallVector<int64_t> fitting = fittingAxes(logits, wanted, /*first=*/1);
  if (fitting.size() == 1)
    return ClassAxis{fitting[0], wanted};
  if (fitting.size() > 1 && !labels)
    return fail(formatv("logits of shape {0} may have the classes along axis {1} or along axis "
                        "{2}, and labels of shape {3} fit both: say "
                        "--loss=cross-entropy,axis={1} or axis={2}",
                        printed(logits), fitting[0], fitting[1], printed(wanted)));
  if (fitting.size() > 1)
    return fail(formatv("labels of shape {0} fit logits of shape {1} with the classes along "
                        "axis {2} and along axis {3}: say --loss=cross-entropy,axis={2} or "
                        "axis={3}",
                        printed(wanted), printed(logits), fitting[0], fitting[1]));
  if (!fittingAxes(logits, wanted, 0).empty())
    return fail(formatv("labels of shape {0} fit logits of shape {1} with the classes along "
                        "axis 0 only, which counts samples: if that is meant, say "
                        "--loss=cross-entropy,axis=0",
                        printed(wanted), printed(logits)));
  return fail(formatv("labels of shape {0} do not fit logits of shape {1}: {2}", printed(wanted),
                      printed(logits), explainMisfit(logits, wanted, usual)));
}

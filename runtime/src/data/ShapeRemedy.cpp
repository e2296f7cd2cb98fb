// Finds out why the shape of an array does not fit an input. Often the samples lie
// along different dimensions of the input and of the array. For labels, the classes of
// the logits may lie along another dimension.

#include "runtime/src/data/ShapeRemedy.h"

#include "runtime/src/data/ArrayFile.h"
#include "runtime/src/data/InputBounds.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace dpc {

static std::vector<int64_t> without(const std::vector<int64_t> &shape, size_t dimension) {
  std::vector<int64_t> others;
  for (size_t d = 0; d < shape.size(); ++d)
    if (d != dimension)
      others.push_back(shape[d]);
  return others;
}

/// A shape in the notation of --shape, e.g. "7x8x6".
static std::string extentsText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

/// The --shape option with which the array fits an input. The option exchanges the
/// extents of dimension `d` and of the batch dimension in the input's shape. Empty
/// if the array would still not fit.
static std::string swappedShape(const dpc_input_t &input, const dpc_array_t &array, size_t d) {
  const std::vector<int64_t> need(input.shape, input.shape + input.dim_count),
      have(array.shape, array.shape + array.dim_count);
  const auto samples = static_cast<size_t>(input.batch_dim);
  std::vector<int64_t> swapped = need;
  std::swap(swapped[d], swapped[samples]);
  const std::vector<int64_t> sample = without(swapped, samples);
  if (swapped == need || (without(have, 0) != sample && without(have, samples) != sample))
    return "";
  return std::string("--shape=") + input.name + ":" + extentsText(swapped);
}

/// Advice for an input whose samples might lie along dimension `d`. It suggests
/// --batch-dim if the array then fits (`fitsBatchDim`). It suggests another --shape
/// if the array fits after the exchange of two extents, because the user may have
/// given them in the wrong order.
static std::string otherDimension(const dpc_input_t &input, const dpc_array_t &array, size_t d,
                                  bool fitsBatchDim) {
  const std::string name = input.name, dimension = std::to_string(d);
  const std::string counts = "--batch-dim=" + name + ":" + dimension + " if dimension " +
                             dimension + " of the model's input counts samples)";
  const std::string text =
      " (" + name + " of the program is " + shapeText(input.shape, input.dim_count) + " with";
  if (input.batch_dim < 0)
    return fitsBatchDim ? text + "out samples: compile with " + counts : "";
  const std::string samples = std::to_string(input.batch_dim),
                    shape = swappedShape(input, array, d);
  const std::string begin = text + " its samples along dimension " + samples + ": compile with " +
                            shape +
                            (shape.empty() ? "" : " if dimension " + samples + " does count them");
  if (!fitsBatchDim)
    return shape.empty() ? "" : begin + ")";
  return begin + (shape.empty() ? "" : ", or with ") + counts;
}

/// Advice for an input of the ONNX graph, which has other rules than an input of labels.
static std::string batchRemedy(const dpc_input_t &input, const dpc_array_t &array) {
  const std::vector<int64_t> need(input.shape, input.shape + input.dim_count),
      have(array.shape, array.shape + array.dim_count);
  if (need.size() != have.size() || need.size() < 2)
    return "";
  for (size_t d = 0; d < need.size(); ++d) {
    const bool isSamples = input.batch_dim == static_cast<int32_t>(d);
    // The samples of the array may lie along its first dimension or along dimension
    // `d`. `fitsAsInput` is the second case. It is not considered if the input has a
    // batch of 1, because then an array of one sample can fit by chance.
    const bool fitsAsInput = without(have, d) == without(need, d) &&
                             (input.batch_dim < 0 || need[size_t(input.batch_dim)] != 1);
    if (!isSamples && (without(have, 0) == without(need, d) || fitsAsInput))
      return otherDimension(input, array, d, true);
  }
  for (size_t d = 1; d < have.size() && input.batch_dim >= 0; ++d)
    if (without(have, d) == sampleShape(input))
      return " (dimension " + std::to_string(d) +
             " of the array fits as that of the samples: put it first, or compile a model that "
             "has them there with dpc-compile --batch-dim=" +
             input.name + ":" + std::to_string(d) + ")";
  for (size_t d = 0; d < need.size(); ++d)
    if (const std::string text = otherDimension(input, array, d, false); !text.empty())
      return text;
  return "";
}

static std::vector<int64_t> withoutOnes(std::vector<int64_t> shape) {
  shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
  return shape;
}

/// Advice for labels whose samples have the shape `have`.
static std::string labelRemedy(const dpc_input_t &input, const std::vector<int64_t> &have) {
  if (withoutOnes(have) == withoutOnes(sampleShape(input)))
    return " (they differ by extents of 1: reshape the array)";
  // Labels have the dimensions of the logits except the one for classes. One sample
  // of the labels also lacks the dimension for samples.
  const auto samples = static_cast<uint32_t>(std::max(input.batch_dim, 0));
  const uint32_t sampleAxis = samples + (input.class_axis <= samples ? 1 : 0);
  const std::vector<int64_t> logits(input.logits_shape,
                                    input.logits_shape + input.logits_dim_count);
  if (!logits.empty() && without(logits, sampleAxis) == have)
    return " (they have an element for each class, and the loss takes class numbers: numpy.argmax "
           "along axis " +
           std::to_string(input.class_axis) + " of one-hot labels)";
  for (uint32_t axis = 0; axis < input.logits_dim_count; ++axis) {
    if (axis == sampleAxis)
      continue;
    const uint32_t later = std::max(axis, sampleAxis), earlier = std::min(axis, sampleAxis);
    if (without(without(logits, later), earlier) == have)
      return " (they fit logits " + shapeText(input.logits_shape, input.logits_dim_count) +
             " with the classes along axis " + std::to_string(axis) +
             ": compile with --loss=cross-entropy,axis=" + std::to_string(axis) + ")";
  }
  return " (compile with --label-shape to change it)";
}

std::string shapeRemedy(const dpc_input_t &input, const dpc_array_t &array) {
  if (input.role != DPC_INPUT_LABEL)
    return batchRemedy(input, array);
  const uint32_t skip = input.batch_dim >= 0 ? std::min(1u, array.dim_count) : 0;
  return labelRemedy(input, {array.shape + skip, array.shape + array.dim_count});
}

} // namespace dpc

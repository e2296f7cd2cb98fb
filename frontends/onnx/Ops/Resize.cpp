// Imports ONNX interpolation.

#include "frontends/onnx/Import/Registry.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

constexpr int64_t kMaxExtent = (int64_t(1) << 31) - 1;

/// The input indices that one output index reads along a dimension, each with
/// its weight.
struct Taps {
  SmallVector<std::pair<int64_t, double>> of;
};

double sourceCoordinate(StringRef mode, int64_t out, double scale, int64_t inExtent,
                        int64_t outExtent) {
  if (mode == "align_corners") {
    // If scales are given, ONNX uses the resized length scale * extent without rounding
    // it.
    double length = scale * double(inExtent);
    if (std::abs(length - double(outExtent)) < 1e-6)
      length = double(outExtent);
    return outExtent == 1 ? 0 : double(out) * double(inExtent - 1) / (length - 1);
  }
  if (mode == "asymmetric")
    return double(out) / scale;
  if (mode == "pytorch_half_pixel" && outExtent == 1)
    return 0;
  double coordinate = (double(out) + 0.5) / scale - 0.5;
  if (mode == "half_pixel_symmetric") {
    double adjustment = double(outExtent) / (scale * double(inExtent));
    double centre = double(inExtent) / 2, offset = centre * (1 - adjustment);
    coordinate = offset + coordinate;
  }
  return coordinate;
}

int64_t roundNearest(StringRef mode, double x) {
  if (mode == "round_prefer_ceil")
    return static_cast<int64_t>(std::floor(x + 0.5));
  if (mode == "floor")
    return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil")
    return static_cast<int64_t>(std::ceil(x));
  return static_cast<int64_t>(std::ceil(x - 0.5)); // round_prefer_floor
}

/// Keys' cubic kernel with coefficient `a`.
double cubicWeight(double distance, double a) {
  double d = std::abs(distance);
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2)
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

SmallVector<Taps> resizeTaps(Conversion &c, int64_t in, int64_t out, double scale) {
  std::string mode = c.stringAttr("mode");
  std::string coordinates = c.stringAttr("coordinate_transformation_mode");
  std::string nearest = c.stringAttr("nearest_mode");
  double a = c.floatAttr("cubic_coeff_a");
  bool exclude = c.intAttr("exclude_outside");
  SmallVector<Taps> taps(out);
  for (int64_t o = 0; o < out; ++o) {
    double x = sourceCoordinate(coordinates, o, scale, in, out);
    auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i, 0, in - 1); };
    if (mode == "nearest") {
      taps[o].of.push_back({clamp(roundNearest(nearest, x)), 1});
      continue;
    }
    bool cubic = mode == "cubic";
    int64_t left = static_cast<int64_t>(std::floor(x));
    double total = 0;
    for (int64_t i = left - (cubic ? 1 : 0); i <= left + (cubic ? 2 : 1); ++i) {
      double weight = cubic ? cubicWeight(x - double(i), a) : 1 - std::abs(x - double(i));
      if (exclude && (i < 0 || i >= in))
        weight = 0;
      total += weight;
      taps[o].of.push_back({clamp(i), weight});
    }
    if (exclude)
      for (auto &tap : taps[o].of)
        tap.second /= total;
  }
  return taps;
}

/// Converts Resize. Resizing is a linear function of the input, and acts on one dimension
/// at a time. Along a dimension it is a gather if each output element reads one input
/// element, else a product with a small matrix.
LogicalResult convertResize(Conversion &c) {
  Value x = c.operand(0);
  int64_t rank = rankOf(x);
  std::string mode = c.stringAttr("mode"),
              coordinates = c.stringAttr("coordinate_transformation_mode");
  if (c.intAttr("antialias"))
    return c.error("antialias is not supported");
  if (coordinates == "tf_crop_and_resize")
    return c.error("coordinate_transformation_mode tf_crop_and_resize is not supported");
  if (c.stringAttr("keep_aspect_ratio_policy", "stretch") != "stretch")
    return c.error("keep_aspect_ratio_policy is not supported");
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    return c.error("mode '" + mode + "' is not known");
  SmallVector<int64_t> axes = range(0, rank);
  if (c.hasAttr("axes")) {
    axes = c.intsAttr("axes");
    for (int64_t &axis : axes)
      if (!c.failed)
        axis = c.normalizeAxis(axis, rank);
  }
  if (c.failed)
    return failure();
  bool bySizes = c.has(3) && shapeOf(c.operand(3)) != ArrayRef<int64_t>{0};
  SmallVector<double> scales;
  SmallVector<int64_t> sizes;
  if (bySizes) {
    sizes = c.ints(3, "sizes");
  } else if (c.has(2)) {
    auto known = c.tryDoubles(2);
    if (!known)
      return c.error("scales must be known at compile time");
    scales = *known;
  }
  if (c.failed)
    return failure();
  size_t given = bySizes ? sizes.size() : scales.size();
  if (given != axes.size())
    return c.error((bySizes ? "sizes" : "scales") + Twine(" has ") + Twine(given) +
                   " elements but must have " + Twine(axes.size()));
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t in = shapeOf(x)[axis];
    double scale = bySizes ? double(sizes[i]) / double(std::max<int64_t>(in, 1)) : scales[i];
    double wanted = bySizes ? double(sizes[i]) : std::floor(double(in) * scale);
    if (!(scale > 0) || !(wanted >= 1) || wanted > double(kMaxExtent) || in < 1)
      return c.error("dimension " + Twine(axis) + " of " + printed(shapeOf(x)) +
                     " cannot be resized");
    int64_t out = static_cast<int64_t>(wanted);
    if (out == in && scale == 1)
      continue;
    SmallVector<Taps> taps = resizeTaps(c, in, out, scale);
    if (mode == "nearest") {
      SmallVector<int64_t> indices;
      for (const Taps &tap : taps)
        indices.push_back(tap.of.front().first);
      x = c.e.make<nn::GatherOp>(x, c.intConstant({out}, indices), axis);
      continue;
    }
    HostTensor matrix(RankedTensorType::get({in, out}, nn::typeOf(x).getElementType()));
    for (auto [o, tap] : llvm::enumerate(taps))
      for (auto [from, weight] : tap.of)
        matrix.floats[from * out + int64_t(o)] += weight;
    Value product = c.e.dot(x, c.exactConstant(matrix), {}, {}, {axis}, {0});
    SmallVector<int64_t> back; // the product has the resized dimension last
    for (int64_t d = 0; d < rank; ++d)
      back.push_back(d < axis ? d : d == axis ? rank - 1 : d - 1);
    x = c.e.transpose(product, back);
  }
  return c.failed ? failure() : c.done(x);
}

} // namespace

void dpc::onnx::registerResizeOps(Registry &registry) { registry.add("Resize", convertResize); }

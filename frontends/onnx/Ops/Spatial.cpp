// Imports ONNX convolution and pooling.

#include "frontends/onnx/Import/Constants.h"
#include "frontends/onnx/Import/Registry.h"
#include "frontends/onnx/Ops/Kinks.h"
#include "frontends/onnx/Ops/Reduction.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// The geometry of a window over the spatial dimensions, as ONNX's attributes give it.
struct Geometry {
  SmallVector<int64_t> kernel, strides, dilations, padLow, padHigh, extents;
};

constexpr int64_t kMaxExtent = (int64_t(1) << 31) - 1;

/// Reads strides, dilations, pads and auto_pad for `x`; nullopt after an error.
std::optional<Geometry> readGeometry(Conversion &c, Value x, ArrayRef<int64_t> kernel) {
  Geometry g;
  size_t spatial = rankOf(x) - 2;
  g.kernel.assign(kernel.begin(), kernel.end());
  auto read = [&](StringRef name, int64_t fallback, size_t count) {
    SmallVector<int64_t> list = c.intsAttr(name);
    if (!c.hasAttr(name) || (list.empty() && count))
      list.assign(count, fallback);
    if (list.size() != count && !c.failed)
      (void)c.error(name + " has " + Twine(list.size()) + " elements but must have " +
                    Twine(count));
    return list;
  };
  if (kernel.size() != spatial) {
    (void)c.error("the kernel has " + Twine(kernel.size()) + " dimensions but the input " +
                  printed(shapeOf(x)) + " has " + Twine(spatial) + " spatial ones");
    return std::nullopt;
  }
  g.strides = read("strides", 1, spatial);
  g.dilations = read("dilations", 1, spatial);
  SmallVector<int64_t> pads = read("pads", 0, 2 * spatial);
  std::string autoPad = c.stringAttr("auto_pad");
  if (c.failed)
    return std::nullopt;
  for (size_t i = 0; i < spatial; ++i) {
    int64_t in = shapeOf(x)[i + 2];
    auto positive = [](int64_t v) { return v >= 1 && v <= kMaxExtent; };
    if (!positive(g.kernel[i]) || !positive(g.strides[i]) || !positive(g.dilations[i]) ||
        pads[i] < 0 || pads[i + spatial] < 0 || pads[i] > kMaxExtent ||
        pads[i + spatial] > kMaxExtent) {
      (void)c.error("kernel " + printed(g.kernel) + ", strides " + printed(g.strides) +
                    " and dilations " + printed(g.dilations) + " must be positive and pads " +
                    printed(pads) + " not negative");
      return std::nullopt;
    }
    int64_t reach = (g.kernel[i] - 1) * g.dilations[i] + 1, low = pads[i], high = pads[i + spatial];
    if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
      int64_t out = (in + g.strides[i] - 1) / g.strides[i];
      int64_t total = std::max<int64_t>((out - 1) * g.strides[i] + reach - in, 0);
      low = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      high = total - low;
    } else if (autoPad == "VALID") {
      low = high = 0;
    } else if (autoPad != "NOTSET") {
      (void)c.error("auto_pad '" + autoPad + "' is not known");
      return std::nullopt;
    }
    // In ceil_mode the last window may begin inside the input and end beyond the padding,
    // by at most `stride - 1` elements.
    int64_t behind = c.intAttr("ceil_mode") ? g.strides[i] - 1 : 0;
    if (in + low + high + behind < reach) {
      (void)c.error("the window reaches " + Twine(reach) + " but the padded extent is " +
                    Twine(in + low + high));
      return std::nullopt;
    }
    g.padLow.push_back(low);
    g.padHigh.push_back(high);
    g.extents.push_back((in + low + high - reach) / g.strides[i] + 1);
  }
  return g;
}

LogicalResult checkRank(Conversion &c, Value x) {
  if (rankOf(x) >= 3 && rankOf(x) <= 5)
    return success();
  return c.error("input has rank " + Twine(rankOf(x)) + " but must have 3 to 5");
}

/// y + bias, with one bias per output channel. PyTorch writes zeros as the bias of a layer that
/// has none. They are not added: the sum is y, only that a y of -0 would become 0. In 16 bits
/// the sum would also be a tensor in f32 between the convolution and the norm after it.
LogicalResult finishWithBias(Conversion &c, Value y) {
  if (!c.has(2))
    return c.done(y);
  Value bias = c.operand(2);
  if (rankOf(bias) != 1 || shapeOf(bias)[0] != shapeOf(y)[1])
    return c.error("bias has shape " + printed(shapeOf(bias)) + " but there are " +
                   Twine(shapeOf(y)[1]) + " output channels");
  if (isZero(bias))
    return c.done(y);
  return c.done(c.e.add(y, c.e.broadcast(bias, shapeOf(y), {1})));
}

LogicalResult convertConv(Conversion &c) {
  Value x = c.operand(0), w = c.operand(1);
  int64_t groups = c.intAttr("group");
  if (c.failed || failed(checkRank(c, x)))
    return failure();
  if (rankOf(w) != rankOf(x))
    return c.error("input " + printed(shapeOf(x)) + " and kernel " + printed(shapeOf(w)) +
                   " have different ranks");
  if (groups < 1 || shapeOf(x)[1] != groups * shapeOf(w)[1] || shapeOf(w)[0] % groups)
    return c.error("input " + printed(shapeOf(x)) + " and kernel " + printed(shapeOf(w)) +
                   " do not fit group " + Twine(groups));
  ArrayRef<int64_t> kernel = shapeOf(w).drop_front(2);
  if (c.hasAttr("kernel_shape") && ArrayRef<int64_t>(c.intsAttr("kernel_shape")) != kernel)
    return c.error("kernel_shape " + printed(c.intsAttr("kernel_shape")) +
                   " is not that of the kernel " + printed(shapeOf(w)));
  auto g = readGeometry(c, x, kernel);
  if (!g)
    return failure();
  return finishWithBias(
      c, c.e.make<nn::ConvOp>(x, w, g->strides, g->padLow, g->padHigh, g->dilations, groups));
}

/// Converts ConvTranspose: the transpose of a convolution with the same kernel. The
/// extent of a result is (in - 1) stride + reach + output_padding - pads, where reach is
/// the extent of the dilated kernel.
LogicalResult convertConvTranspose(Conversion &c) {
  Value x = c.operand(0), w = c.operand(1);
  int64_t groups = c.intAttr("group");
  if (c.failed || failed(checkRank(c, x)))
    return failure();
  size_t spatial = rankOf(x) - 2;
  if (rankOf(w) != rankOf(x) || groups < 1 || shapeOf(x)[1] != shapeOf(w)[0] ||
      shapeOf(w)[0] % groups)
    return c.error("input " + printed(shapeOf(x)) + " and kernel " + printed(shapeOf(w)) +
                   " do not fit group " + Twine(groups));
  auto list = [&](StringRef name, int64_t fallback, size_t count) {
    SmallVector<int64_t> values = c.intsAttr(name);
    if (!c.hasAttr(name))
      values.assign(count, fallback);
    if (values.size() != count && !c.failed)
      (void)c.error(name + " has " + Twine(values.size()) + " elements but must have " +
                    Twine(count));
    return values;
  };
  SmallVector<int64_t> strides = list("strides", 1, spatial),
                       dilations = list("dilations", 1, spatial),
                       pads = list("pads", 0, 2 * spatial),
                       extra = list("output_padding", 0, spatial), low, high;
  SmallVector<int64_t> asked =
      c.hasAttr("output_shape") ? list("output_shape", 0, spatial) : SmallVector<int64_t>();
  std::string autoPad = c.stringAttr("auto_pad");
  if (c.failed)
    return failure();
  SmallVector<int64_t> shape{shapeOf(x)[0], shapeOf(w)[1] * groups};
  for (size_t i = 0; i < spatial; ++i) {
    int64_t in = shapeOf(x)[i + 2], kernel = shapeOf(w)[i + 2];
    auto small = [](int64_t v, int64_t least) { return v >= least && v <= kMaxExtent; };
    if (!small(strides[i], 1) || !small(dilations[i], 1) || !small(kernel, 1) ||
        !small(extra[i], 0) || !small(pads[i], 0) || !small(pads[i + spatial], 0) || in < 1)
      return c.error("strides " + printed(strides) + ", dilations " + printed(dilations) +
                     ", pads " + printed(pads) + " and output_padding " + printed(extra) +
                     " are not possible");
    int64_t full = (in - 1) * strides[i] + (kernel - 1) * dilations[i] + 1 + extra[i];
    int64_t before = pads[i], after = pads[i + spatial];
    if (!asked.empty() || autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
      int64_t total = full - (asked.empty() ? in * strides[i] : asked[i]);
      // If the requested extent is larger than the windows reach, the elements that no
      // window reaches are at the end.
      before = total < 0 ? 0 : autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      after = total - before;
    }
    int64_t extent = full - before - after;
    if (extent < 1)
      return c.error("pads leave no elements along spatial dimension " + Twine(i));
    shape.push_back(extent);
    low.push_back(before);
    high.push_back(after - extra[i]);
  }
  auto type = RankedTensorType::get(shape, nn::typeOf(x).getElementType());
  return finishWithBias(
      c, c.e.make<nn::ConvInputGradOp>(type, x, w, strides, low, high, dilations, groups));
}

/// Applies ceil_mode, which adds one window if this window starts inside the input or the
/// input's low padding. More padding at the end makes room for the window.
void applyCeilMode(Geometry &g, Value x) {
  for (size_t i = 0; i < g.kernel.size(); ++i) {
    int64_t in = shapeOf(x)[i + 2], reach = (g.kernel[i] - 1) * g.dilations[i] + 1;
    int64_t padded = in + g.padLow[i] + g.padHigh[i];
    int64_t out = (padded - reach + g.strides[i] - 1) / g.strides[i] + 1;
    if ((out - 1) * g.strides[i] >= in + g.padLow[i])
      --out;
    g.padHigh[i] += std::max<int64_t>((out - 1) * g.strides[i] + reach - padded, 0);
    g.extents[i] = out;
  }
}

std::optional<Geometry> readPooling(Conversion &c, Value x) {
  if (failed(checkRank(c, x)))
    return std::nullopt;
  return readGeometry(c, x, c.intsAttr("kernel_shape"));
}

LogicalResult convertMaxPool(Conversion &c) {
  Value x = c.operand(0);
  auto g = readPooling(c, x);
  if (!g)
    return failure();
  if (c.intAttr("ceil_mode"))
    applyCeilMode(*g, x);
  if (c.isUsed(1))
    return c.error("output 1 (indices) is not supported");
  c.setResult(
      0, c.e.make<nn::MaxPoolOp>(x, g->kernel, g->strides, g->padLow, g->padHigh, g->dilations));
  return c.failed ? failure() : success();
}

/// Converts AveragePool: the sum of each window, divided by a number of elements. The
/// number counts the elements of the window that lie in the input, and with
/// count_include_pad also those that lie in the padding that the node asks for.
LogicalResult convertAveragePool(Conversion &c) {
  Value x = c.operand(0);
  auto g = readPooling(c, x);
  if (!g)
    return failure();
  bool includePad = c.intAttr("count_include_pad");
  SmallVector<int64_t> ownHigh(g->padHigh);
  if (c.intAttr("ceil_mode"))
    applyCeilMode(*g, x);
  if (c.failed)
    return failure();
  Value sum =
      c.e.make<nn::SumPoolOp>(x, g->kernel, g->strides, g->padLow, g->padHigh, g->dilations);
  // The count is a product of one count per dimension.
  HostTensor counts(RankedTensorType::get(g->extents, nn::typeOf(x).getElementType()));
  int64_t at = 0;
  forEachIndex(g->extents, [&](ArrayRef<int64_t> index) {
    double count = 1;
    for (size_t i = 0; i < index.size(); ++i) {
      int64_t in = shapeOf(x)[i + 2], inside = 0;
      for (int64_t k = 0; k < g->kernel[i]; ++k) {
        int64_t place = index[i] * g->strides[i] + k * g->dilations[i] - g->padLow[i];
        bool own = place >= 0 && place < in;
        bool padding = place >= -g->padLow[i] && place < in + ownHigh[i];
        inside += includePad ? padding : own;
      }
      count *= double(std::max<int64_t>(inside, 1));
    }
    counts.floats[at++] = count;
  });
  Value divisor;
  if (llvm::all_of(counts.floats, [&](double v) { return v == counts.floats[0]; }))
    return c.done(c.e.div(sum, c.e.splatLike(sum, counts.floats[0])));
  SmallVector<int64_t> dimensions = range(2, rankOf(x));
  divisor = c.e.make<nn::ConstantOp>(cast<ElementsAttr>(counts.toAttr()));
  return c.done(c.e.div(sum, c.e.broadcast(divisor, shapeOf(sum), dimensions)));
}

/// Converts LpPool and GlobalLpPool: (sum |x|^p)^(1/p) over windows, or over all elements
/// of a channel.
LogicalResult convertLpPool(Conversion &c) {
  Value x = c.operand(0);
  int64_t p = c.intAttr("p");
  if (p < 1)
    return c.error("p is " + Twine(p) + " but must be 1 or more");
  Value power = c.e.make<nn::AbsOp>(x);
  if (p == 2)
    power = c.e.mul(x, x);
  else if (p > 2)
    power = c.e.make<nn::PowOp>(power, c.e.splatLike(power, double(p)));
  Value sum;
  if (c.node.opType == "GlobalLpPool") {
    if (rankOf(x) < 3)
      return c.error("input has rank " + Twine(rankOf(x)) + " but must have 3 or more");
    SmallVector<int64_t> shape(shapeOf(x).take_front(2));
    shape.append(rankOf(x) - 2, 1);
    sum = c.e.reshape(c.e.sum(power, range(2, rankOf(x))), shape);
  } else {
    auto g = readPooling(c, x);
    if (!g)
      return failure();
    if (c.intAttr("ceil_mode"))
      applyCeilMode(*g, x);
    sum =
        c.e.make<nn::SumPoolOp>(power, g->kernel, g->strides, g->padLow, g->padHigh, g->dilations);
  }
  if (c.failed)
    return failure();
  if (p == 1)
    return c.done(sum);
  if (p == 2)
    return c.done(rootOfSquares(c, sum));
  return c.done(rootOfPowers(c, sum, [&](Value safe) -> Value {
    return c.e.make<nn::PowOp>(safe, c.exactLike(safe, 1 / double(p)));
  }));
}

/// Converts LRN: x / (bias + alpha / size * sum of squares of `size` neighbouring
/// channels)^beta. The sum is a pooling with a window over the channels of the input,
/// reshaped to [N, 1, C, pixels].
LogicalResult convertLocalResponse(Conversion &c) {
  Value x = c.operand(0);
  int64_t size = c.intAttr("size");
  if (c.failed || failed(checkRank(c, x)))
    return failure();
  if (size < 1 || size > kMaxExtent)
    return c.error("size is " + Twine(size) + " but must be positive");
  int64_t channels = shapeOf(x)[1], pixels = 1;
  for (int64_t extent : shapeOf(x).drop_front(2))
    pixels *= extent;
  if (nn::typeOf(x).getNumElements() == 0)
    return c.done(x);
  Value squares = c.e.reshape(c.e.mul(x, x), {shapeOf(x)[0], 1, channels, pixels});
  Value sums = c.e.make<nn::SumPoolOp>(squares, ArrayRef<int64_t>{size, 1}, ArrayRef<int64_t>{1, 1},
                                       ArrayRef<int64_t>{(size - 1) / 2, 0},
                                       ArrayRef<int64_t>{size / 2, 0}, ArrayRef<int64_t>{1, 1});
  Value scaled = c.e.mul(c.e.reshape(sums, shapeOf(x)), c.floatAttr("alpha"));
  Value base = c.e.add(c.e.div(scaled, c.e.splatLike(x, double(size))), c.floatAttr("bias"));
  return c.done(c.e.div(x, c.e.make<nn::PowOp>(base, c.e.splatLike(base, c.floatAttr("beta")))));
}

LogicalResult convertGlobalPool(Conversion &c) {
  Value x = c.operand(0);
  if (rankOf(x) < 3)
    return c.error("input has rank " + Twine(rankOf(x)) + " but must have 3 or more");
  SmallVector<int64_t> dimensions = range(2, rankOf(x)), shape(shapeOf(x).take_front(2));
  double count = 1;
  for (int64_t size : shapeOf(x).drop_front(2)) {
    count *= double(size);
    shape.push_back(1);
  }
  if (c.node.opType == "GlobalMaxPool")
    return c.done(c.e.reshape(
        c.e.reduce(nn::ReduceKind::max, x, dimensions, choosesFirst(c, dimensions)), shape));
  Value sum = c.e.sum(x, dimensions);
  return c.done(c.e.reshape(c.e.div(sum, c.e.splatLike(sum, count)), shape));
}

} // namespace

void dpc::onnx::registerSpatialOps(Registry &registry) {
  registry.add("Conv", convertConv);
  registry.add("ConvTranspose", convertConvTranspose);
  registry.add("MaxPool", convertMaxPool);
  registry.add("AveragePool", convertAveragePool);
  registry.add("GlobalAveragePool", convertGlobalPool);
  registry.add("GlobalMaxPool", convertGlobalPool);
  registry.add("LpPool", convertLpPool);
  registry.add("GlobalLpPool", convertLpPool);
  registry.add("LRN", convertLocalResponse);
}

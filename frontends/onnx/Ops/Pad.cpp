// Imports ONNX padding.

#include "frontends/onnx/Import/Registry.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

/// The padding before and after each dimension.
struct Pads {
  SmallVector<int64_t> low, high;
};

std::optional<Pads> readPads(Conversion &c, int64_t rank) {
  SmallVector<int64_t> pads = c.ints(1, "pads"), axes;
  if (c.has(3))
    axes = c.ints(3, "axes");
  else
    axes = range(0, rank);
  if (c.failed)
    return std::nullopt;
  if (pads.size() != 2 * axes.size()) {
    (void)c.error("pads has " + Twine(pads.size()) + " elements but must have " +
                  Twine(2 * axes.size()));
    return std::nullopt;
  }
  Pads result{SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(rank, 0)};
  for (auto [i, given] : llvm::enumerate(axes)) {
    int64_t axis = c.normalizeAxis(given, rank);
    if (c.failed)
      return std::nullopt;
    result.low[axis] = pads[i];
    result.high[axis] = pads[i + axes.size()];
  }
  return result;
}

/// Pads one dimension with elements of `x`. Mode "edge" repeats the border element,
/// "reflect" mirrors the elements without the border element, and "wrap" continues with
/// the elements of the other end.
Value padWithOwn(Conversion &c, Value x, StringRef mode, int64_t axis, int64_t low, int64_t high) {
  int64_t extent = shapeOf(x)[axis];
  auto mirrored = [&](int64_t start, int64_t limit) {
    Value part = c.sliceAlong(x, axis, start, limit);
    return Value(c.e.make<nn::ReverseOp>(part.getType(), part, ArrayRef<int64_t>{axis}));
  };
  auto repeated = [&](int64_t at, int64_t times) {
    SmallVector<Value> copies(times, c.sliceAlong(x, axis, at, at + 1));
    return times == 1 ? copies[0] : Value(c.e.make<nn::ConcatOp>(copies, axis));
  };
  SmallVector<Value> parts;
  if (low > 0)
    parts.push_back(mode == "edge"      ? repeated(0, low)
                    : mode == "reflect" ? mirrored(1, low + 1)
                                        : c.sliceAlong(x, axis, extent - low, extent));
  parts.push_back(x);
  if (high > 0)
    parts.push_back(mode == "edge"      ? repeated(extent - 1, high)
                    : mode == "reflect" ? mirrored(extent - 1 - high, extent - 1)
                                        : c.sliceAlong(x, axis, 0, high));
  return c.e.make<nn::ConcatOp>(parts, axis);
}

LogicalResult convertPad(Conversion &c) {
  Value x = c.operand(0);
  int64_t rank = rankOf(x);
  std::optional<Pads> pads = readPads(c, rank);
  if (!pads)
    return failure();
  std::string mode = c.stringAttr("mode");
  for (int64_t i = 0; i < rank; ++i) {
    constexpr int64_t limit = int64_t(1) << 40;
    int64_t extent = shapeOf(x)[i], low = pads->low[i], high = pads->high[i];
    if (std::abs(low) > limit || std::abs(high) > limit || extent + low + high < 0)
      return c.error("pads " + Twine(low) + " and " + Twine(high) + " do not fit extent " +
                     Twine(extent));
    int64_t available = mode == "reflect" ? extent - 1
                        : mode == "edge"  ? (extent ? limit : 0)
                                          : extent;
    if (mode != "constant" && std::max(low, high) > available)
      return c.error("mode " + mode + " pads by " + Twine(std::max(low, high)) + " but extent " +
                     Twine(extent) + " allows " + Twine(available));
  }
  if (mode == "constant") {
    Value value = c.has(2) ? c.operand(2) : c.e.splat(nn::withShape(nn::typeOf(x), {}), 0);
    if (nn::typeOf(value).getNumElements() != 1)
      return c.error("the padding value has shape " + printed(shapeOf(value)) +
                     " but must be a scalar");
    SmallVector<int64_t> interior(rank, 0);
    if (llvm::all_of(pads->low, [](int64_t v) { return v == 0; }) &&
        llvm::all_of(pads->high, [](int64_t v) { return v == 0; }))
      return c.done(x);
    return c.done(c.e.make<nn::PadOp>(x, c.e.reshape(value, {}), pads->low, pads->high, interior));
  }
  if (mode != "edge" && mode != "reflect" && mode != "wrap")
    return c.error("mode '" + mode + "' is not supported");
  for (int64_t i = 0; i < rank; ++i) {
    int64_t low = pads->low[i], high = pads->high[i];
    if (low > 0 || high > 0)
      x = padWithOwn(c, x, mode, i, low, high);
    int64_t cutLow = std::max<int64_t>(-low, 0), cutHigh = std::max<int64_t>(-high, 0);
    x = c.sliceAlong(x, i, cutLow, shapeOf(x)[i] - cutHigh);
  }
  return c.done(x);
}

/// Converts CenterCropPad: brings each axis to the requested extent by cropping it, or by
/// padding it with zeros, evenly at both ends.
LogicalResult convertCenterCropPad(Conversion &c) {
  Value x = c.operand(0);
  SmallVector<int64_t> asked = c.ints(1, "shape");
  SmallVector<int64_t> axes = c.hasAttr("axes") ? c.intsAttr("axes") : range(0, rankOf(x));
  if (c.failed)
    return failure();
  if (asked.size() != axes.size())
    return c.error("shape " + printed(asked) + " and axes " + printed(axes) +
                   " have different lengths");
  SmallVector<int64_t> low(rankOf(x), 0), high(low), interior(low);
  int64_t elements = 1;
  for (auto [given, size] : llvm::zip(axes, asked)) {
    int64_t axis = c.normalizeAxis(given, rankOf(x));
    if (c.failed)
      return failure();
    if (size < 0 || llvm::MulOverflow(elements, std::max<int64_t>(size, 1), elements))
      return c.error("shape " + printed(asked) + " has an extent that is negative or too large");
    int64_t extent = shapeOf(x)[axis], excess = extent - size;
    if (excess >= 0) {
      x = c.sliceAlong(x, axis, excess / 2, excess / 2 + size);
    } else {
      low[axis] = -excess / 2;
      high[axis] = -excess - low[axis];
    }
  }
  if (llvm::all_of(high, [](int64_t v) { return v == 0; }))
    return c.done(x);
  Value zero = c.e.splat(nn::withShape(nn::typeOf(x), {}), 0);
  return c.done(c.e.make<nn::PadOp>(x, zero, low, high, interior));
}

} // namespace

void dpc::onnx::registerPadOps(Registry &registry) {
  registry.add("Pad", convertPad);
  registry.add("CenterCropPad", convertCenterCropPad);
}

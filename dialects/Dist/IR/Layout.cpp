// Checks layouts, computes the extents and axes of their dimensions, and
// normalises layouts.

#include "dialects/Dist/IR/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace dpc::dist {

//===-- Extents -----------------------------------------------------------===//

int64_t Segment::extent() const {
  int64_t extent = 1;
  for (const Factor &factor : factors)
    extent *= factor.size;
  return extent;
}

int64_t DimLayout::extent() const {
  int64_t extent = 0;
  for (const Segment &segment : segments)
    extent += segment.extent();
  return extent;
}

Layout Layout::replicated(ArrayRef<int64_t> shape) {
  Layout layout;
  for (int64_t extent : shape)
    layout.dims.push_back(DimLayout::replicated(extent));
  return layout;
}

SmallVector<int64_t, 4> Layout::shape() const {
  SmallVector<int64_t, 4> shape;
  for (const DimLayout &dim : dims)
    shape.push_back(dim.extent());
  return shape;
}

static llvm::hash_code hashOf(const Factor &factor) {
  return llvm::hash_combine(factor.size,
                            llvm::hash_combine_range(factor.axes.begin(), factor.axes.end()));
}

llvm::hash_code hash_value(const Layout &layout) {
  llvm::hash_code code = llvm::hash_value(layout.dims.size());
  for (const DimLayout &dim : layout.dims)
    for (const Segment &segment : dim.segments)
      for (const Factor &factor : segment.factors)
        code = llvm::hash_combine(code, hashOf(factor));
  for (const Partial &partial : layout.partial)
    code = llvm::hash_combine(code, partial.axis, partial.reduction);
  return code;
}

int64_t localSize(const Factor &factor, const MeshShape &mesh) {
  int64_t size = factor.size;
  for (const std::string &axis : factor.axes)
    size = (size + mesh.axisSize(axis) - 1) / mesh.axisSize(axis);
  return size;
}

int64_t localExtent(const DimLayout &dim, const MeshShape &mesh) {
  int64_t extent = 0;
  for (const Segment &segment : dim.segments) {
    int64_t product = 1;
    for (const Factor &factor : segment.factors)
      product *= localSize(factor, mesh);
    extent += product;
  }
  return extent;
}

SmallVector<int64_t, 4> localShape(const Layout &layout, const MeshShape &mesh) {
  SmallVector<int64_t, 4> shape;
  for (const DimLayout &dim : layout.dims)
    shape.push_back(localExtent(dim, mesh));
  return shape;
}

double shardBytes(const Layout &layout, const MeshShape &mesh, int64_t elementBytes) {
  double bytes = elementBytes;
  for (int64_t extent : localShape(layout, mesh))
    bytes *= extent;
  return bytes;
}

//===-- Queries -----------------------------------------------------------===//

bool hasPadding(const DimLayout &dim, const MeshShape &mesh) {
  // The devices together have localSize * devices slots for the indices of a
  // factor, and each index takes one slot. The remaining slots are padding.
  for (const Segment &segment : dim.segments)
    for (const Factor &factor : segment.factors) {
      int64_t slots = localSize(factor, mesh);
      for (const std::string &axis : factor.axes)
        slots *= mesh.axisSize(axis);
      if (slots != factor.size)
        return true;
    }
  return false;
}

bool hasPadding(const Layout &layout, const MeshShape &mesh) {
  return any_of(layout.dims, [&](const DimLayout &dim) { return hasPadding(dim, mesh); });
}

AxisNames shardedAxes(const DimLayout &dim) {
  AxisNames axes;
  for (const Segment &segment : dim.segments)
    for (const Factor &factor : segment.factors)
      for (const std::string &axis : factor.axes)
        if (!is_contained(axes, axis))
          axes.push_back(axis);
  return axes;
}

AxisNames shardedAxes(const Layout &layout) {
  AxisNames axes;
  for (const DimLayout &dim : layout.dims)
    for (const std::string &axis : shardedAxes(dim))
      if (!is_contained(axes, axis))
        axes.push_back(axis);
  return axes;
}

bool isReplicated(const Layout &layout) {
  return layout.partial.empty() && shardedAxes(layout).empty();
}

//===-- Soundness ---------------------------------------------------------===//

std::optional<int64_t> checkedExtent(const DimLayout &dim) {
  int64_t extent = 0;
  for (const Segment &segment : dim.segments) {
    int64_t product = 1;
    for (const Factor &factor : segment.factors)
      if (MulOverflow(product, factor.size, product))
        return std::nullopt;
    if (AddOverflow(extent, product, extent))
      return std::nullopt;
  }
  return extent;
}

namespace {

std::optional<std::string> checkSegment(const Segment &segment, size_t dim, const MeshShape &mesh) {
  if (segment.factors.empty())
    return ("dimension " + Twine(dim) + " has a segment without factors").str();
  AxisNames seen;
  for (const Factor &factor : segment.factors) {
    if (factor.size < 1)
      return ("dimension " + Twine(dim) + " has a factor of size " + Twine(factor.size) +
              ", less than 1")
          .str();
    for (const std::string &axis : factor.axes) {
      if (!mesh.axisIndex(axis))
        return ("dimension " + Twine(dim) + " is cut by axis '" + axis + "', which the mesh lacks")
            .str();
      if (is_contained(seen, axis))
        return ("axis '" + Twine(axis) + "' cuts one segment of dimension " + Twine(dim) + " twice")
            .str();
      seen.push_back(axis);
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> check(const Layout &layout, ArrayRef<int64_t> shape,
                                 const MeshShape &mesh) {
  if (layout.dims.size() != shape.size())
    return ("layout has " + Twine(layout.dims.size()) + " dimensions but the shape has " +
            Twine(shape.size()))
        .str();
  SmallVector<std::pair<std::string, size_t>, 4> used; // axis, dimension
  for (auto [i, dim] : enumerate(layout.dims)) {
    if (dim.segments.empty())
      return ("dimension " + Twine(i) + " has no segments").str();
    for (const Segment &segment : dim.segments)
      if (std::optional<std::string> defect = checkSegment(segment, i, mesh))
        return defect;
    std::optional<int64_t> extent = checkedExtent(dim);
    if (!extent)
      return ("dimension " + Twine(i) + " has an extent beyond 64 bits, but the shape has " +
              Twine(shape[i]))
          .str();
    if (*extent != shape[i])
      return ("layout of dimension " + Twine(i) + " has extent " + Twine(*extent) +
              " but the shape has " + Twine(shape[i]))
          .str();
    for (const std::string &axis : shardedAxes(dim)) {
      for (auto &[name, other] : used)
        if (name == axis)
          return ("axis '" + Twine(axis) + "' cuts dimensions " + Twine(other) + " and " + Twine(i))
              .str();
      used.emplace_back(axis, i);
    }
  }
  for (auto [i, partial] : enumerate(layout.partial)) {
    const std::string &axis = partial.axis;
    if (!mesh.axisIndex(axis))
      return ("partial over axis '" + Twine(axis) + "', which the mesh lacks").str();
    for (auto &[name, dim] : used)
      if (name == axis)
        return ("axis '" + Twine(axis) + "' cuts dimension " + Twine(dim) + " and is partial")
            .str();
    for (const Partial &earlier : ArrayRef<Partial>(layout.partial).take_front(i))
      if (earlier.axis == axis)
        return ("axis '" + Twine(axis) +
                "' is partial twice: " + stringifyReduction(earlier.reduction) + " and " +
                stringifyReduction(partial.reduction))
            .str();
  }
  return std::nullopt;
}

//===-- Normal form -------------------------------------------------------===//

namespace {

Segment normalizeSegment(const Segment &segment) {
  Segment result;
  for (const Factor &factor : segment.factors) {
    bool uncut = factor.axes.empty();
    if (uncut && factor.size == 1)
      continue;
    if (uncut && !result.factors.empty() && result.factors.back().axes.empty())
      result.factors.back().size *= factor.size;
    else
      result.factors.push_back(factor);
  }
  if (result.factors.empty())
    result.factors.push_back(Factor(1));
  return result;
}

/// Splits a normalised segment into the size of its leading uncut factor (1 if it
/// has none) and its other factors.
std::pair<int64_t, ArrayRef<Factor>> splitLeadingCount(const Segment &segment) {
  ArrayRef<Factor> factors = segment.factors;
  if (!factors.front().axes.empty())
    return {1, factors};
  return {factors.front().size, factors.drop_front()};
}

} // namespace

DimLayout normalize(const DimLayout &dim) {
  DimLayout result;
  for (const Segment &raw : dim.segments) {
    Segment segment = normalizeSegment(raw);
    if (!result.segments.empty()) {
      Segment &last = result.segments.back();
      auto [lastCount, lastTail] = splitLeadingCount(last);
      auto [count, tail] = splitLeadingCount(segment);
      if (lastTail == tail) {
        Segment sum{Factor(lastCount + count)};
        sum.factors.append(tail.begin(), tail.end());
        last = std::move(sum);
        continue;
      }
    }
    result.segments.push_back(std::move(segment));
  }
  return result;
}

Layout normalize(const Layout &layout) {
  Layout result;
  for (const DimLayout &dim : layout.dims)
    result.dims.push_back(normalize(dim));
  result.partial = layout.partial;
  llvm::sort(result.partial, [](const Partial &a, const Partial &b) { return a.axis < b.axis; });
  return result;
}

} // namespace dpc::dist

// Computes the layouts of the results of transpose, concat, slice and broadcast.

#include "dialects/Dist/IR/LayoutTransforms.h"
#include "dialects/Dist/IR/LayoutFactors.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dpc::dist {

std::optional<Layout> transposeLayout(const Layout &layout, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t, 4> sorted(permutation);
  llvm::sort(sorted);
  if (sorted.size() != layout.dims.size())
    return std::nullopt;
  for (auto [i, dim] : enumerate(sorted))
    if (dim != int64_t(i))
      return std::nullopt;
  Layout result;
  result.partial = layout.partial;
  for (int64_t dim : permutation)
    result.dims.push_back(layout.dims[dim]);
  return normalize(result);
}

std::optional<Layout> concatLayouts(ArrayRef<Layout> layouts, unsigned dim, const MeshShape &mesh) {
  if (layouts.empty() || dim >= layouts.front().dims.size())
    return std::nullopt;
  Layout result = normalize(layouts.front());
  for (const Layout &layout : layouts.drop_front()) {
    if (layout.dims.size() != result.dims.size() || normalize(layout).partial != result.partial)
      return std::nullopt;
    for (auto [i, other] : enumerate(layout.dims))
      if (i != dim && !sameIndices(other, result.dims[i], mesh))
        return std::nullopt;
    result.dims[dim].segments.append(layout.dims[dim].segments);
  }
  // `result` has the other dimensions of the first layout. They have the same
  // indices as in the other layouts, but may name other axes of size 1. One of
  // these axes may also cut `dim`.
  if (check(result, result.shape(), mesh))
    return std::nullopt;
  return normalize(result);
}

/// Appends to `out` the indices [begin, end) of the product `prefix` x `factors`.
/// `prefix` has extent 1. Returns false if the slice is not possible.
static bool sliceProduct(ArrayRef<Factor> factors, int64_t begin, int64_t end,
                         const Factors &prefix, const MeshShape &mesh, DimLayout &out) {
  auto emit = [&](ArrayRef<Factor> product) {
    Segment &segment = out.segments.emplace_back();
    segment.factors.append(prefix.begin(), prefix.end());
    segment.factors.append(product.begin(), product.end());
  };
  int64_t extent = 1;
  for (const Factor &factor : factors)
    extent *= factor.size;
  if (begin >= end)
    return true;
  if (begin == 0 && end == extent) {
    emit(factors);
    return true;
  }
  const Factor &leading = factors.front();
  ArrayRef<Factor> tail = factors.drop_front();
  if (leading.size == 1) {
    Factors longer = prefix;
    longer.push_back(leading);
    return sliceProduct(tail, begin, end, longer, mesh, out);
  }
  if (!isUncut(leading, mesh))
    return false;
  int64_t copyExtent = extent / leading.size;
  int64_t firstWhole = (begin + copyExtent - 1) / copyExtent, lastWhole = end / copyExtent;
  if (firstWhole > lastWhole) { // the slice is inside one copy
    int64_t start = lastWhole * copyExtent;
    return sliceProduct(tail, begin - start, end - start, prefix, mesh, out);
  }
  int64_t before = firstWhole * copyExtent - begin, after = end - lastWhole * copyExtent;
  if (before && !sliceProduct(tail, copyExtent - before, copyExtent, prefix, mesh, out))
    return false;
  if (lastWhole > firstWhole) {
    Factors whole{Factor(lastWhole - firstWhole)};
    whole.append(tail.begin(), tail.end());
    emit(whole);
  }
  return !after || sliceProduct(tail, 0, after, prefix, mesh, out);
}

std::optional<DimLayout> sliceDim(const DimLayout &dim, int64_t begin, int64_t size,
                                  const MeshShape &mesh) {
  if (begin < 0 || size < 1 || begin > dim.extent() - size)
    return std::nullopt;
  DimLayout result;
  int64_t start = 0;
  for (const Segment &segment : dim.segments) {
    int64_t extent = segment.extent();
    if (!sliceProduct(segment.factors, std::max<int64_t>(begin - start, 0),
                      std::min(begin + size - start, extent), {}, mesh, result))
      return std::nullopt;
    start += extent;
  }
  return normalize(result);
}

std::optional<Layout> sliceLayout(const Layout &layout, unsigned dim, int64_t begin, int64_t size,
                                  const MeshShape &mesh) {
  if (dim >= layout.dims.size())
    return std::nullopt;
  std::optional<DimLayout> sliced = sliceDim(layout.dims[dim], begin, size, mesh);
  if (!sliced)
    return std::nullopt;
  Layout result = layout;
  result.dims[dim] = std::move(*sliced);
  return normalize(result);
}

std::optional<Layout> broadcastLayout(const Layout &layout, ArrayRef<int64_t> toShape,
                                      ArrayRef<int64_t> dimMap) {
  if (dimMap.size() != layout.dims.size())
    return std::nullopt;
  Layout result = Layout::replicated(toShape);
  result.partial = layout.partial;
  int64_t previous = -1;
  for (auto [dim, to] : zip_equal(layout.dims, dimMap)) {
    if (to <= previous || to >= int64_t(toShape.size()))
      return std::nullopt;
    previous = to;
    int64_t extent = dim.extent();
    if (extent != 1 && extent != toShape[to])
      return std::nullopt;
    DimLayout &target = result.dims[to];
    target = dim;
    if (extent == 1)
      target.segments.front().factors.push_back(Factor(toShape[to]));
  }
  return normalize(result);
}

} // namespace dpc::dist

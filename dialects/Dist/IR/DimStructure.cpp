// Computes common refinements of dimension structures, and rewrites layouts with a
// given structure.

#include "dialects/Dist/IR/DimStructure.h"
#include "dialects/Dist/IR/LayoutFactors.h"
#include "dialects/Dist/IR/LayoutTransforms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dpc::dist {

using Sizes = DimStructure::Sizes;

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

int64_t DimStructure::extent() const {
  int64_t result = 0;
  for (const Sizes &segment : segments)
    result += product(segment);
  return result;
}

DimStructure structureOf(const DimLayout &dim) {
  DimStructure structure;
  for (const Segment &segment : dim.segments) {
    Sizes &sizes = structure.segments.emplace_back();
    for (const Factor &factor : segment.factors)
      sizes.push_back(factor.size);
  }
  return structure;
}

DimLayout uncutLayout(const DimStructure &structure) {
  DimLayout dim;
  for (const Sizes &sizes : structure.segments) {
    Segment &segment = dim.segments.emplace_back();
    for (int64_t size : sizes)
      segment.factors.push_back(Factor(size));
  }
  return dim;
}

std::string toString(const DimStructure &structure) {
  std::string text;
  raw_string_ostream os(text);
  os << '[';
  interleave(
      structure.segments, os, [&](const Sizes &sizes) { interleave(sizes, os, "x"); }, " + ");
  os << ']';
  return text;
}

//===-- Common refinement -------------------------------------------------===//

/// `sizes` without factors of size 1; a single 1 if no other factor remains.
static Sizes dropOnes(ArrayRef<int64_t> sizes) {
  Sizes result;
  copy_if(sizes, std::back_inserter(result), [](int64_t size) { return size != 1; });
  if (result.empty())
    result.push_back(1);
  return result;
}

/// Splits the product `sizes` into a sum of products, and appends these to `out`.
/// The splits are at the indices `points`, which ascend and are not at an end of
/// the product. Returns false if it cannot be split there.
static bool cutProduct(ArrayRef<int64_t> sizes, ArrayRef<int64_t> points,
                       SmallVectorImpl<Sizes> &out) {
  if (points.empty()) {
    out.push_back(dropOnes(sizes));
    return true;
  }
  int64_t extent = product(sizes);
  ArrayRef<int64_t> tail = sizes.drop_front();
  int64_t copyExtent = product(tail);
  int64_t begin = 0;
  while (begin < extent) {
    // Find the next piece. It consists of the copies up to the next point between
    // copies, or of one copy with points inside.
    SmallVector<int64_t, 4> inside;
    while (!points.empty() && points.front() % copyExtent != 0) {
      inside.push_back(points.front() - begin);
      points = points.drop_front();
    }
    int64_t end = points.empty() ? extent : points.front();
    if (!points.empty())
      points = points.drop_front();
    if (!inside.empty()) {
      if (end - begin != copyExtent || !cutProduct(tail, inside, out))
        return false;
    } else {
      Sizes piece{(end - begin) / copyExtent};
      piece.append(tail.begin(), tail.end());
      out.push_back(dropOnes(piece));
    }
    begin = end;
  }
  return true;
}

/// Splits `structure` at all `boundaries`, which ascend. None if a segment cannot
/// be split there.
static std::optional<SmallVector<Sizes, 4>> cutAt(const DimStructure &structure,
                                                  ArrayRef<int64_t> boundaries) {
  SmallVector<Sizes, 4> result;
  int64_t begin = 0;
  for (const Sizes &sizes : structure.segments) {
    int64_t end = begin + product(sizes);
    boundaries = boundaries.drop_while([&](int64_t boundary) { return boundary <= begin; });
    SmallVector<int64_t, 4> inside;
    for (; !boundaries.empty() && boundaries.front() < end; boundaries = boundaries.drop_front())
      inside.push_back(boundaries.front() - begin);
    if (!cutProduct(sizes, inside, result))
      return std::nullopt;
    begin = end;
  }
  return result;
}

static void appendBoundaries(const DimStructure &structure, SmallVectorImpl<int64_t> &boundaries) {
  int64_t end = 0;
  for (const Sizes &sizes : structure.segments)
    boundaries.push_back(end += product(sizes));
}

/// Appends the extents of `sizes` and of all its proper suffixes.
static void appendSuffixes(ArrayRef<int64_t> sizes, SmallVectorImpl<int64_t> &suffixes) {
  for (size_t i = 0; i < sizes.size(); ++i)
    suffixes.push_back(product(sizes.drop_front(i)));
}

/// The coarsest product that refines both `a` and `b`. It exists only if, after
/// sorting the suffix extents of `a` and `b` together, each divides the next.
static std::optional<Sizes> refineProducts(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t, 8> suffixes;
  appendSuffixes(a, suffixes);
  appendSuffixes(b, suffixes);
  llvm::sort(suffixes);
  suffixes.erase(std::unique(suffixes.begin(), suffixes.end()), suffixes.end());
  Sizes result;
  int64_t inner = 1;
  for (int64_t suffix : suffixes) {
    if (suffix % inner != 0)
      return std::nullopt;
    result.insert(result.begin(), suffix / inner);
    inner = suffix;
  }
  return dropOnes(result);
}

std::optional<DimStructure> commonRefinement(const DimStructure &a, const DimStructure &b) {
  if (a.extent() != b.extent())
    return std::nullopt;
  SmallVector<int64_t, 8> boundaries;
  appendBoundaries(a, boundaries);
  appendBoundaries(b, boundaries);
  llvm::sort(boundaries);
  boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
  auto cutA = cutAt(a, boundaries), cutB = cutAt(b, boundaries);
  if (!cutA || !cutB)
    return std::nullopt;
  DimStructure result;
  for (auto [sizesA, sizesB] : zip_equal(*cutA, *cutB)) {
    std::optional<Sizes> sizes = refineProducts(sizesA, sizesB);
    if (!sizes)
      return std::nullopt;
    result.segments.push_back(std::move(*sizes));
  }
  return result;
}

DimStructure withoutOnes(const DimStructure &structure) {
  DimStructure result;
  for (const Sizes &sizes : structure.segments)
    result.segments.push_back(dropOnes(sizes));
  return result;
}

bool refines(const DimStructure &fine, const DimStructure &coarse) {
  std::optional<DimStructure> both = commonRefinement(fine, coarse);
  return both && *both == withoutOnes(fine);
}

//===-- Layouts on a given structure --------------------------------------===//

/// Rewrites the product `factors` so that its factors have exactly the sizes
/// `sizes`. None if this is not exact.
static std::optional<Segment> refineSegment(ArrayRef<Factor> factors, ArrayRef<int64_t> sizes,
                                            const MeshShape &mesh) {
  Factors rest(factors), minorFirst;
  AxisNames guards;
  for (int64_t size : reverse(sizes)) {
    auto cut = cutFactors(rest, size, /*mayMerge=*/true, mesh);
    if (!cut)
      return std::nullopt;
    std::optional<Factor> merged = Factor(1);
    if (size > 1)
      merged = mergeAllFactors(cut->second, guards, mesh);
    if (!merged)
      return std::nullopt;
    minorFirst.push_back(std::move(*merged));
    rest = std::move(cut->first);
  }
  // The remaining factors have extent 1. Their guards (LayoutFactors.h) may be
  // moved to any factor that has a single index on each device.
  for (Factor factor : rest)
    extractGuards(factor, guards, mesh);
  auto single =
      find_if(minorFirst, [&](const Factor &factor) { return localSize(factor, mesh) == 1; });
  if (!guards.empty() && single == minorFirst.end())
    return std::nullopt;
  if (!guards.empty())
    single->axes.append(guards);
  Segment result;
  result.factors.append(minorFirst.rbegin(), minorFirst.rend());
  return result;
}

std::optional<DimLayout> refineLayout(const DimLayout &dim, const DimStructure &structure,
                                      const MeshShape &mesh) {
  if (dim.extent() != structure.extent())
    return std::nullopt;
  DimLayout result;
  int64_t begin = 0;
  for (const Sizes &raw : structure.segments) {
    Sizes sizes = dropOnes(raw);
    std::optional<DimLayout> part = sliceDim(dim, begin, product(sizes), mesh);
    if (!part || part->segments.size() != 1)
      return std::nullopt;
    std::optional<Segment> segment = refineSegment(part->segments.front().factors, sizes, mesh);
    if (!segment)
      return std::nullopt;
    result.segments.push_back(std::move(*segment));
    begin += product(sizes);
  }
  return result;
}

} // namespace dpc::dist

// Finds the layout of the result with which a reshape moves no data between
// devices.
//
// First, the dimensions of both shapes are divided into groups. Each group of the
// operand is paired with a group of the result that has the same extent: from
// 6x4x5 to 2x3x20, the pairs are 6 with 2x3, and 4x5 with 20. In a pair, the
// operand's dimensions form one product of terms, and the result's dimensions are
// split off at its minor end one by one. A boundary inside a term splits the term.
// A term that is a sum of segments can be split in two cases: all segments end in
// the same product (ac + bc), or the sum is a repetition (c + c + c).
// LayoutFactors.h explains guards.

#include "dialects/Dist/IR/LayoutFactors.h"
#include "dialects/Dist/IR/LayoutTransforms.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dpc::dist {

/// A reshape that repeats a sum may make at most this many segments. A reshape that
/// needs more segments counts as impossible.
static constexpr int64_t maxRepeatedSegments = 64;

namespace {

using Dims = SmallVector<DimLayout, 4>;

/// The steps of one reshape. If `keepFactors` is set, the dimensions are structures
/// (DimStructure.h): their factors are loops, so two uncut factors may not be
/// multiplied into one.
struct Reshaper {
  const MeshShape &mesh;
  bool keepFactors;

  std::optional<DimLayout> multiply(const DimLayout &major, const DimLayout &minor) const;
  std::optional<DimLayout> multiplyAll(ArrayRef<DimLayout> terms) const;
  std::optional<DimLayout> unify(const DimLayout &a, const DimLayout &b) const;
  std::optional<std::pair<DimLayout, DimLayout>> cutEverySegment(const DimLayout &dim,
                                                                 int64_t minorExtent) const;
  std::optional<std::pair<DimLayout, DimLayout>> cutRepetition(const DimLayout &dim,
                                                               int64_t minorExtent) const;
  std::optional<std::pair<Dims, Dims>> cutTerms(ArrayRef<DimLayout> terms,
                                                int64_t minorExtent) const;
  std::optional<Dims> reshapeGroup(ArrayRef<DimLayout> dims, ArrayRef<int64_t> toShape) const;
  std::optional<Dims> reshape(ArrayRef<DimLayout> dims, ArrayRef<int64_t> toShape) const;
};

} // namespace

static Segment makeSegment(ArrayRef<Factor> factors) {
  Segment segment;
  segment.factors.append(factors.begin(), factors.end());
  if (segment.factors.empty())
    segment.factors.push_back(Factor(1));
  return segment;
}

/// The product of two dimensions. Its indices enumerate the pairs (index of
/// `major`, index of `minor`) in row-major order.
std::optional<DimLayout> Reshaper::multiply(const DimLayout &major, const DimLayout &minor) const {
  DimLayout result;
  if (minor.segments.size() == 1) { // (a + b)c = ac + bc
    result = major;
    for (Segment &segment : result.segments)
      segment.factors.append(minor.segments.front().factors);
    return result;
  }
  // a(b + c) = ab + ac keeps the order of indices only if a has a single index.
  // If a has n > 1 indices, the product consists of n copies of b + c.
  if (major.segments.size() != 1)
    return std::nullopt;
  ArrayRef<Factor> factors = major.segments.front().factors;
  Factors prefix;
  int64_t copies = 1;
  for (const Factor &factor : factors) {
    if (factor.size == 1)
      prefix.push_back(factor);
    else if (isUncut(factor, mesh) && !keepFactors)
      copies *= factor.size;
    else
      return std::nullopt;
  }
  if (copies * int64_t(minor.segments.size()) > maxRepeatedSegments)
    return std::nullopt;
  for (int64_t i = 0; i < copies; ++i)
    for (const Segment &segment : minor.segments) {
      Factors all = prefix;
      all.append(segment.factors.begin(), segment.factors.end());
      result.segments.push_back(makeSegment(all));
    }
  return result;
}

std::optional<DimLayout> Reshaper::multiplyAll(ArrayRef<DimLayout> terms) const {
  std::optional<DimLayout> result = DimLayout::replicated(1);
  for (const DimLayout &term : terms) {
    result = multiply(*result, term);
    if (!result)
      return std::nullopt;
  }
  return keepFactors ? *result : normalize(*result);
}

/// A dimension that is equal to both `a` and `b`; none if they differ. For
/// structures, this is the common refinement.
std::optional<DimLayout> Reshaper::unify(const DimLayout &a, const DimLayout &b) const {
  if (!keepFactors)
    return sameIndices(a, b, mesh) ? std::optional(a) : std::nullopt;
  std::optional<DimStructure> both = commonRefinement(structureOf(a), structureOf(b));
  return both ? std::optional(uncutLayout(*both)) : std::nullopt;
}

/// Splits ac + bc into (a + b, c).
std::optional<std::pair<DimLayout, DimLayout>>
Reshaper::cutEverySegment(const DimLayout &dim, int64_t minorExtent) const {
  DimLayout major;
  std::optional<DimLayout> minor;
  for (const Segment &segment : dim.segments) {
    if (segment.extent() % minorExtent != 0)
      return std::nullopt;
    auto cut = cutFactors(segment.factors, minorExtent,
                          /*mayMerge=*/!keepFactors, mesh);
    if (!cut)
      return std::nullopt;
    if (!keepFactors && dim.segments.size() > 1) {
      // A guard restricts a segment to one device. It is moved to the major part,
      // because otherwise the minor parts of two segments could differ only in
      // their guards.
      AxisNames guards;
      for (Factor &factor : cut->second)
        extractGuards(factor, guards, mesh);
      if (!guards.empty())
        cut->first.push_back(Factor(1, guards));
    }
    major.segments.push_back(makeSegment(cut->first));
    DimLayout tail{makeSegment(cut->second)};
    minor = minor ? unify(*minor, tail) : tail;
    if (!minor)
      return std::nullopt;
  }
  return std::make_pair(std::move(major), std::move(*minor));
}

/// Splits c + c + c into (3, c). Here c itself may be a sum.
std::optional<std::pair<DimLayout, DimLayout>> Reshaper::cutRepetition(const DimLayout &dim,
                                                                       int64_t minorExtent) const {
  int64_t copies = dim.extent() / minorExtent;
  std::optional<DimLayout> minor;
  for (int64_t i = 0; i < copies; ++i) {
    std::optional<DimLayout> copy = sliceDim(dim, i * minorExtent, minorExtent, mesh);
    if (!copy)
      return std::nullopt;
    minor = minor ? unify(*minor, *copy) : copy;
    if (!minor)
      return std::nullopt;
  }
  return std::make_pair(DimLayout::replicated(copies), std::move(*minor));
}

/// Splits the product of `terms` into two products. The second product has the
/// extent `minorExtent`. The split is between two terms if possible, else inside a
/// term. If this term cannot be split exactly, the split is inside a product of
/// neighbouring terms, as few as possible.
std::optional<std::pair<Dims, Dims>> Reshaper::cutTerms(ArrayRef<DimLayout> terms,
                                                        int64_t minorExtent) const {
  size_t cut = terms.size();
  int64_t need = minorExtent;
  while (need > 1 && cut > 0 && need % terms[cut - 1].extent() == 0)
    need /= terms[--cut].extent();
  if (need == 1)
    return std::make_pair(Dims(terms.take_front(cut)), Dims(terms.drop_front(cut)));

  for (size_t width = 1; width <= terms.size(); ++width)
    for (size_t begin = cut < width ? 0 : cut - width; begin < cut && begin + width <= terms.size();
         ++begin) {
      int64_t suffix = 1;
      for (const DimLayout &term : terms.drop_front(begin + width))
        suffix *= term.extent();
      if (minorExtent % suffix != 0)
        continue;
      int64_t minor = minorExtent / suffix;
      std::optional<DimLayout> window = multiplyAll(terms.slice(begin, width));
      if (!window || window->extent() % minor != 0)
        continue;
      auto halves = cutEverySegment(*window, minor);
      if (!halves && window->segments.size() > 1)
        halves = cutRepetition(*window, minor);
      if (!halves)
        continue;
      Dims major(terms.take_front(begin)), rest{halves->second};
      major.push_back(halves->first);
      rest.append(terms.begin() + begin + width, terms.end());
      return std::make_pair(std::move(major), std::move(rest));
    }
  return std::nullopt;
}

std::optional<Dims> Reshaper::reshapeGroup(ArrayRef<DimLayout> dims,
                                           ArrayRef<int64_t> toShape) const {
  if (dims.size() == 1 && toShape.size() == 1)
    return Dims(dims);
  // Use one term per factor, so that cutTerms multiplies as few terms as possible.
  Dims terms;
  for (const DimLayout &dim : dims) {
    if (dim.segments.size() == 1)
      for (const Factor &factor : dim.segments.front().factors)
        terms.push_back({Segment{factor}});
    else
      terms.push_back(dim);
  }
  Dims result(toShape.size());
  for (size_t i = toShape.size(); i-- > 0;) {
    Dims minor = terms;
    if (i > 0) {
      auto cut = cutTerms(terms, toShape[i]);
      if (!cut)
        return std::nullopt;
      terms = std::move(cut->first);
      minor = std::move(cut->second);
    }
    std::optional<DimLayout> dim = multiplyAll(minor);
    if (!dim)
      return std::nullopt;
    result[i] = std::move(*dim);
  }
  if (toShape.empty()) // a tensor of rank 0 has no dimension for a guard
    if (std::optional<DimLayout> dim = multiplyAll(terms);
        !dim || !sameIndices(*dim, DimLayout::replicated(1), mesh))
      return std::nullopt;
  return result;
}

std::optional<Dims> Reshaper::reshape(ArrayRef<DimLayout> dims, ArrayRef<int64_t> toShape) const {
  int64_t fromElements = 1, toElements = 1;
  for (const DimLayout &dim : dims)
    fromElements *= dim.extent();
  for (int64_t extent : toShape)
    toElements *= extent;
  if (fromElements != toElements || any_of(toShape, [](int64_t extent) { return extent < 1; }))
    return std::nullopt;

  Dims result;
  size_t from = 0, to = 0;
  do {
    size_t fromBegin = from, toBegin = to;
    int64_t fromExtent = from < dims.size() ? dims[from++].extent() : 1;
    int64_t toExtent = to < toShape.size() ? toShape[to++] : 1;
    while (fromExtent != toExtent) {
      if (fromExtent < toExtent)
        fromExtent *= dims[from++].extent();
      else
        toExtent *= toShape[to++];
    }
    // If one shape has no more dimensions, the other has only extents of 1 left.
    // They belong to the last group.
    if (to == toShape.size())
      from = dims.size();
    if (from == dims.size())
      to = toShape.size();
    std::optional<Dims> group =
        reshapeGroup(dims.slice(fromBegin, from - fromBegin), toShape.slice(toBegin, to - toBegin));
    if (!group)
      return std::nullopt;
    result.append(*group);
  } while (from < dims.size() || to < toShape.size());
  return result;
}

std::optional<Layout> reshapeLayout(const Layout &layout, ArrayRef<int64_t> toShape,
                                    const MeshShape &mesh) {
  Layout normal = normalize(layout);
  std::optional<Dims> dims = Reshaper{mesh, /*keepFactors=*/false}.reshape(normal.dims, toShape);
  if (!dims)
    return std::nullopt;
  normal.dims = std::move(*dims);
  return normalize(normal);
}

std::optional<SmallVector<DimStructure, 4>> reshapeStructure(ArrayRef<DimStructure> dims,
                                                             ArrayRef<int64_t> toShape) {
  // In the usual case one dimension stays one dimension.
  if (dims.size() == 1 && toShape.size() == 1) {
    if (dims[0].extent() != toShape[0])
      return std::nullopt;
    return SmallVector<DimStructure, 4>{withoutOnes(dims[0])};
  }
  Dims uncut;
  for (const DimStructure &dim : dims)
    uncut.push_back(uncutLayout(dim));
  std::optional<Dims> reshaped =
      Reshaper{MeshShape(), /*keepFactors=*/true}.reshape(uncut, toShape);
  if (!reshaped)
    return std::nullopt;
  SmallVector<DimStructure, 4> result;
  for (const DimLayout &dim : *reshaped)
    result.push_back(withoutOnes(structureOf(dim)));
  return result;
}

} // namespace dpc::dist

// Splits and merges the factors of two layouts of one dimension until both layouts
// have factors of the same sizes.

#include "dialects/Dist/IR/LayoutAlignment.h"

#include "dialects/Dist/IR/LayoutFactors.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace llvm;

namespace dpc::dist {

bool haveSameFactors(const DimLayout &a, const DimLayout &b) {
  auto sameSize = [](const auto &pair) { return std::get<0>(pair).size == std::get<1>(pair).size; };
  return a.segments.size() == b.segments.size() && all_of(zip(a.segments, b.segments), [&](auto s) {
           const auto &[one, other] = s;
           return one.factors.size() == other.factors.size() &&
                  all_of(zip(one.factors, other.factors), sameSize);
         });
}

DimLayout withoutAxes(DimLayout dim) {
  for (Segment &segment : dim.segments)
    for (Factor &factor : segment.factors)
      factor.axes.clear();
  return dim;
}

/// Splits each factor into one factor per axis, as far as this is exact.
static Segment splitAxes(const Segment &segment, const MeshShape &mesh) {
  Segment result;
  for (Factor rest : segment.factors) {
    while (rest.axes.size() > 1) {
      int64_t members = mesh.axisSize(rest.axes.front());
      if (rest.size % members != 0)
        break;
      auto halves = splitFactor(rest, rest.size / members, mesh);
      if (!halves || halves->first.axes.size() != 1)
        break;
      result.factors.push_back(std::move(halves->first));
      rest = std::move(halves->second);
    }
    result.factors.push_back(std::move(rest));
  }
  return result;
}

/// The number of minor factors whose product is `minorExtent`. None if no border
/// between two factors is at this extent.
static std::optional<size_t> findBorder(const Segment &segment, int64_t minorExtent) {
  int64_t extent = 1;
  for (size_t count = 0; count <= segment.factors.size(); ++count) {
    if (extent == minorExtent)
      return count;
    if (count < segment.factors.size())
      extent *= segment.factors[segment.factors.size() - 1 - count].size;
  }
  return std::nullopt;
}

/// Splits a factor of `segment` so that the factors after the split have the
/// product `minorExtent`. Returns false if no exact split exists.
static bool addBorder(Segment &segment, int64_t minorExtent, const MeshShape &mesh) {
  auto cut = cutFactors(segment.factors, minorExtent, /*mayMerge=*/false, mesh);
  if (!cut)
    return false;
  segment.factors.assign(cut->first.begin(), cut->first.end());
  segment.factors.append(cut->second.begin(), cut->second.end());
  return true;
}

/// Merges the two factors at the border at `minorExtent`. Returns true also if
/// there is no border, and false if the merge would not be exact.
static bool removeBorder(Segment &segment, int64_t minorExtent, const MeshShape &mesh) {
  std::optional<size_t> count = findBorder(segment, minorExtent);
  if (!count || *count == 0 || *count == segment.factors.size())
    return true;
  size_t minor = segment.factors.size() - *count;
  auto merged = mergeFactors(segment.factors[minor - 1], segment.factors[minor], mesh);
  if (!merged)
    return false;
  segment.factors[minor - 1] = std::move(*merged);
  segment.factors.erase(segment.factors.begin() + minor);
  return true;
}

static bool alignSegments(Segment &a, Segment &b, const MeshShape &mesh) {
  std::set<int64_t> borders;
  for (const Segment *segment : {&a, &b}) {
    int64_t extent = 1;
    for (const Factor &factor : reverse(segment->factors))
      borders.insert(extent *= factor.size);
  }
  for (int64_t border : borders) {
    Segment cutA = a, cutB = b;
    if (addBorder(cutA, border, mesh) && addBorder(cutB, border, mesh)) {
      a = std::move(cutA);
      b = std::move(cutB);
    } else if (!removeBorder(a, border, mesh) || !removeBorder(b, border, mesh)) {
      return false;
    }
  }
  return true;
}

bool alignFactors(DimLayout &a, DimLayout &b, const MeshShape &mesh) {
  for (DimLayout *dim : {&a, &b}) {
    *dim = normalize(*dim);
    for (Segment &segment : dim->segments)
      segment = splitAxes(segment, mesh);
  }
  if (shardedAxes(a).empty() || shardedAxes(b).empty()) {
    DimLayout &uncut = shardedAxes(a).empty() ? a : b;
    uncut = withoutAxes(&uncut == &a ? b : a);
    return true;
  }
  auto sameExtent = [](auto pair) {
    return std::get<0>(pair).extent() == std::get<1>(pair).extent();
  };
  if (a.segments.size() != b.segments.size() || !all_of(zip(a.segments, b.segments), sameExtent))
    return false;
  for (auto [one, other] : zip(a.segments, b.segments))
    if (!alignSegments(one, other, mesh))
      return false;
  return haveSameFactors(a, b);
}

} // namespace dpc::dist

// Splits and merges the factors of a segment, if that is exact.

#include "dialects/Dist/IR/LayoutFactors.h"
#include "dialects/Dist/IR/LayoutShards.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dpc::dist {

bool forAllCoordinates(ArrayRef<std::string> axes, const MeshShape &mesh,
                       function_ref<bool(ArrayRef<int64_t>)> fn) {
  SmallVector<unsigned, 4> free;
  for (const std::string &axis : axes)
    if (std::optional<unsigned> i = mesh.axisIndex(axis); i && !is_contained(free, *i))
      free.push_back(*i);
  SmallVector<int64_t, 4> coordinates(mesh.axes.size(), 0);
  while (true) {
    if (!fn(coordinates))
      return false;
    size_t digit = free.size();
    while (digit > 0 && ++coordinates[free[digit - 1]] == mesh.axes[free[digit - 1]].size)
      coordinates[free[--digit]] = 0;
    if (digit == 0)
      return true;
  }
}

bool isUncut(const Factor &factor, const MeshShape &mesh) {
  return all_of(factor.axes, [&](const std::string &axis) { return mesh.axisSize(axis) == 1; });
}

void extractGuards(Factor &factor, AxisNames &guards, const MeshShape &mesh) {
  Factor rest(factor.size);
  for (const std::string &axis : factor.axes) {
    if (mesh.axisSize(axis) == 1)
      continue;
    (localSize(rest, mesh) == 1 ? guards : rest.axes).push_back(axis);
  }
  factor = std::move(rest);
}

/// Whether every device has the same indices of the product (major)(minor) as of
/// the factor `whole`.
static bool isExactProduct(const Factor &whole, const Factor &major, const Factor &minor,
                           const MeshShape &mesh) {
  if (localSize(whole, mesh) != localSize(major, mesh) * localSize(minor, mesh))
    return false;
  return forAllCoordinates(whole.axes, mesh, [&](ArrayRef<int64_t> coordinates) {
    FactorRange one = localRange(whole, coordinates, mesh);
    FactorRange outer = localRange(major, coordinates, mesh);
    FactorRange inner = localRange(minor, coordinates, mesh);
    if (one.count != outer.count * inner.count)
      return false;
    if (one.count == 0)
      return true;
    // Several outer indices form one range only if all inner indices are local and
    // there is no padding between them.
    bool contiguous = outer.count == 1 || (inner.count == minor.size && inner.size == minor.size);
    return contiguous && one.offset == outer.offset * minor.size + inner.offset;
  });
}

std::optional<std::pair<Factor, Factor>> splitFactor(const Factor &factor, int64_t minorSize,
                                                     const MeshShape &mesh) {
  for (size_t outer = factor.axes.size() + 1; outer-- > 0;) {
    Factor major(factor.size / minorSize, AxisNames(ArrayRef(factor.axes).take_front(outer)));
    Factor minor(minorSize, AxisNames(ArrayRef(factor.axes).drop_front(outer)));
    if (isExactProduct(factor, major, minor, mesh))
      return std::make_pair(std::move(major), std::move(minor));
  }
  return std::nullopt;
}

std::optional<Factor> mergeFactors(const Factor &major, const Factor &minor,
                                   const MeshShape &mesh) {
  Factor merged(major.size * minor.size, major.axes);
  merged.axes.append(minor.axes.begin(), minor.axes.end());
  if (!isExactProduct(merged, major, minor, mesh))
    return std::nullopt;
  return merged;
}

std::optional<Factor> mergeAllFactors(ArrayRef<Factor> factors, AxisNames &guards,
                                      const MeshShape &mesh) {
  std::optional<Factor> merged;
  for (Factor factor : factors) {
    extractGuards(factor, guards, mesh);
    merged = merged ? mergeFactors(*merged, factor, mesh) : factor;
    if (!merged)
      return std::nullopt;
  }
  return merged;
}

/// Implements cutFactors without splitting the factors into pieces first. If the
/// boundary is between two factors, splits there. If it is inside a factor, merges
/// as few factors around the boundary as possible, at most `maxWidth`, and splits
/// the merged factor.
static std::optional<std::pair<Factors, Factors>>
cutWindow(ArrayRef<Factor> factors, int64_t minorExtent, size_t maxWidth, const MeshShape &mesh) {
  size_t cut = factors.size();
  int64_t need = minorExtent;
  while (need > 1 && cut > 0 && need % factors[cut - 1].size == 0)
    need /= factors[--cut].size;
  if (need == 1)
    return std::make_pair(Factors(factors.take_front(cut)), Factors(factors.drop_front(cut)));
  if (cut == 0)
    return std::nullopt;

  for (size_t width = 1; width <= maxWidth; ++width)
    for (size_t begin = cut < width ? 0 : cut - width;
         begin < cut && begin + width <= factors.size(); ++begin) {
      int64_t suffix = 1;
      for (const Factor &factor : factors.drop_front(begin + width))
        suffix *= factor.size;
      if (minorExtent % suffix != 0)
        continue;
      AxisNames guards;
      std::optional<Factor> merged = mergeAllFactors(factors.slice(begin, width), guards, mesh);
      int64_t minorSize = minorExtent / suffix;
      if (!merged || merged->size % minorSize != 0)
        continue;
      auto halves = splitFactor(*merged, minorSize, mesh);
      if (!halves)
        continue;
      Factors major(factors.take_front(begin)), minor{halves->second};
      if (!guards.empty())
        major.push_back(Factor(1, guards));
      major.push_back(halves->first);
      minor.append(factors.begin() + begin + width, factors.end());
      return std::make_pair(std::move(major), std::move(minor));
    }
  return std::nullopt;
}

/// Splits `factor` exactly into as many factors as possible, and appends them to
/// `pieces`. If no axis cuts the last of these pieces, it can then be merged with
/// the factor after `factor`.
static void appendPieces(Factor factor, const MeshShape &mesh, Factors &pieces) {
  SmallVector<int64_t, 16> divisors;
  for (int64_t i = 2; i * i <= factor.size; ++i)
    if (factor.size % i == 0)
      divisors.append({i, factor.size / i});
  llvm::sort(divisors);
  for (int64_t divisor : divisors)
    if (auto halves = splitFactor(factor, divisor, mesh)) {
      appendPieces(std::move(halves->first), mesh, pieces);
      pieces.push_back(std::move(halves->second));
      return;
    }
  pieces.push_back(std::move(factor));
}

std::optional<std::pair<Factors, Factors>> cutFactors(ArrayRef<Factor> factors, int64_t minorExtent,
                                                      bool mayMerge, const MeshShape &mesh) {
  if (!mayMerge)
    return cutWindow(factors, minorExtent, 1, mesh);
  if (auto cut = cutWindow(factors, minorExtent, factors.size(), mesh))
    return cut;
  Factors pieces;
  for (Factor factor : factors) {
    AxisNames guards;
    extractGuards(factor, guards, mesh);
    if (!guards.empty())
      pieces.push_back(Factor(1, guards));
    if (isUncut(factor, mesh))
      pieces.push_back(Factor(factor.size));
    else
      appendPieces(std::move(factor), mesh, pieces);
  }
  return cutWindow(pieces, minorExtent, pieces.size(), mesh);
}

} // namespace dpc::dist

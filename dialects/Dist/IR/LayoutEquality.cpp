// Decides whether two layouts give every device the same indices. For this, it
// brings both layouts to a canonical form, which depends on the sizes of the mesh
// axes. LayoutFactors.h explains guards.

#include "dialects/Dist/IR/LayoutFactors.h"
#include "dialects/Dist/IR/LayoutShards.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dpc::dist {

/// Merges the factors of `segment` as far as this is exact on `mesh`, and moves
/// its guards to `guards`.
static Segment canonicalize(const Segment &segment, AxisNames &guards, const MeshShape &mesh) {
  Segment result;
  for (Factor factor : segment.factors) {
    extractGuards(factor, guards, mesh);
    result.factors.push_back(std::move(factor));
  }
  for (size_t i = 0; i + 1 < result.factors.size();) {
    std::optional<Factor> merged = mergeFactors(result.factors[i], result.factors[i + 1], mesh);
    if (!merged) {
      ++i;
      continue;
    }
    result.factors[i] = std::move(*merged);
    result.factors.erase(result.factors.begin() + i + 1);
    i = i ? i - 1 : 0;
  }
  llvm::sort(guards);
  return result;
}

/// The canonical form of `dim` on `mesh`. Moves guards that all segments share to
/// `guards`. The other guards of a segment become its last factor.
static DimLayout canonicalize(const DimLayout &dim, AxisNames &guards, const MeshShape &mesh) {
  DimLayout result;
  std::vector<AxisNames> own(dim.segments.size());
  for (auto [segment, axes] : zip(dim.segments, own))
    result.segments.push_back(canonicalize(segment, axes, mesh));
  for (const std::string &axis : own.front())
    if (all_of(own, [&](const AxisNames &axes) { return is_contained(axes, axis); }))
      guards.push_back(axis);
  for (auto [segment, axes] : zip(result.segments, own)) {
    erase_if(axes, [&](const std::string &axis) { return is_contained(guards, axis); });
    if (!axes.empty())
      segment.factors.push_back(Factor(1, axes));
  }
  return normalize(result);
}

/// Decides sameIndices for two dimensions in canonical form.
static bool sameCanonical(const DimLayout &a, const DimLayout &b, const MeshShape &mesh) {
  if (a == b)
    return true;
  if (a.extent() != b.extent() || localExtent(a, mesh) != localExtent(b, mesh))
    return false;
  AxisNames axes = shardedAxes(a);
  axes.append(shardedAxes(b));
  return forAllCoordinates(axes, mesh, [&](ArrayRef<int64_t> coordinates) {
    return localRuns(a, coordinates, mesh) == localRuns(b, coordinates, mesh);
  });
}

bool sameIndices(const DimLayout &a, const DimLayout &b, const MeshShape &mesh) {
  if (a == b)
    return true;
  AxisNames guardsA, guardsB;
  DimLayout canonicalA = canonicalize(a, guardsA, mesh);
  DimLayout canonicalB = canonicalize(b, guardsB, mesh);
  return guardsA == guardsB && sameCanonical(canonicalA, canonicalB, mesh);
}

bool sameIndices(const Layout &a, const Layout &b, const MeshShape &mesh) {
  if (a.dims.size() != b.dims.size())
    return false;
  if (a.dims == b.dims)
    return true;
  // A guard decides whether the entire shard is padding, so it does not matter in
  // which dimension the guard is.
  AxisNames guardsA, guardsB;
  for (auto [dimA, dimB] : zip(a.dims, b.dims)) {
    AxisNames ownA, ownB;
    if (!sameCanonical(canonicalize(dimA, ownA, mesh), canonicalize(dimB, ownB, mesh), mesh))
      return false;
    guardsA.append(ownA);
    guardsB.append(ownB);
  }
  llvm::sort(guardsA);
  llvm::sort(guardsB);
  return guardsA == guardsB;
}

} // namespace dpc::dist

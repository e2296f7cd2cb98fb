// The structure of a dimension: its segments and factors.
//
// A structure is a layout of a dimension without axes: its segments and the sizes
// of their factors. It says how ops see a dimension before axes are chosen to cut
// it. For example, a reshape from 4x8 to 32 sees the result as [4x8]. Propagation
// of layouts identifies every factor with a loop of an op. If two ops see one
// dimension with different structures, propagation needs their common refinement.

#ifndef DPC_DIALECTS_DIST_IR_DIMSTRUCTURE_H
#define DPC_DIALECTS_DIST_IR_DIMSTRUCTURE_H

#include "dialects/Dist/IR/Layout.h"

namespace dpc::dist {

/// A sum of products of sizes. Every size is at least 1, and no segment is empty.
struct DimStructure {
  using Sizes = llvm::SmallVector<int64_t, 2>;
  llvm::SmallVector<Sizes, 1> segments;

  DimStructure() = default;
  DimStructure(std::initializer_list<Sizes> list) : segments(list) {}

  int64_t extent() const;
  bool operator==(const DimStructure &other) const { return segments == other.segments; }
  bool operator!=(const DimStructure &other) const { return !(*this == other); }
};

DimStructure structureOf(const DimLayout &dim);
/// The layout with the structure `structure` in which no axis cuts a factor.
DimLayout uncutLayout(const DimStructure &structure);
/// The structure as text, e.g. `[3x4x8 + 5]`.
std::string toString(const DimStructure &structure);

/// The common refinement of `a` and `b`: the coarsest structure with two
/// properties. It has the segment boundaries of both. In each of its segments, a
/// factor of `a` or `b` is a product of adjacent factors of the segment. None if
/// the extents differ, or if no structure has these properties, e.g. for 2x3 and
/// 3x2. Factors of size 1 are dropped.
///
/// A segment with the factors (n, rest..) consists of n copies of (rest..), and
/// may be split between two copies. A part of m copies then has the factors
/// (m, rest..). Therefore the refinement of 3x4x8 and 4x8 + 4x8 + 4x8 is
/// 4x8 + 4x8 + 4x8. The inside of a copy may be split only if both ends of the
/// copy are boundaries.
std::optional<DimStructure> commonRefinement(const DimStructure &a, const DimStructure &b);

/// `structure` without factors of size 1. A segment that has only factors of size 1
/// keeps one of them.
DimStructure withoutOnes(const DimStructure &structure);

/// Whether the common refinement of `fine` and `coarse` is `fine`.
bool refines(const DimStructure &fine, const DimStructure &coarse);

/// Rewrites `dim` with the segments and factors of `structure`, but without
/// factors of size 1. Every device keeps the same indices. None if the extents
/// differ, or if an axis of `dim` would have to cut across the factors of
/// `structure`.
std::optional<DimLayout> refineLayout(const DimLayout &dim, const DimStructure &structure,
                                      const MeshShape &mesh);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_DIMSTRUCTURE_H

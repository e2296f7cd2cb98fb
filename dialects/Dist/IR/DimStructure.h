// What a dimension is made of.
//
// A dimension's segments and factor sizes, without axes: what the ops around a
// value see in one of its dimensions, before anything decides how it is cut.
// Propagation gives every factor an identity (a loop) and needs one structure
// where two ops see different ones.

#ifndef DPC_DIALECTS_DIST_IR_DIMSTRUCTURE_H
#define DPC_DIALECTS_DIST_IR_DIMSTRUCTURE_H

#include "dialects/Dist/IR/Layout.h"

namespace dpc::dist {

/// Sum of products of sizes; every size at least 1, no segment empty.
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
/// `structure` with no factor cut.
DimLayout uncutLayout(const DimStructure &structure);
/// `[3x4x8 + 5]`.
std::string toString(const DimStructure &structure);

/// The coarsest structure that has every segment boundary of either and no
/// other, and in which every factor of either is a product of adjacent factors;
/// none if there is no such structure (2x3 and 3x2) or the extents differ. A
/// segment n x rest may be cut between its copies of rest, so 3x4x8 and 4x8 +
/// 4x8 + 4x8 meet in the latter; a copy is cut inside only where both its ends
/// are boundaries. Factors of size 1 are dropped.
std::optional<DimStructure> commonRefinement(const DimStructure &a, const DimStructure &b);

/// `structure` without factors of size 1, but for one where a segment has no
/// others.
DimStructure withoutOnes(const DimStructure &structure);

/// Is `fine` its own common refinement with `coarse`?
bool refines(const DimStructure &fine, const DimStructure &coarse);

/// `dim` written with exactly the segments and factors of `structure`, the same
/// indices on every device; none if its cuts do not fit them. Sizes of 1 in
/// `structure` are dropped.
std::optional<DimLayout> refineLayout(const DimLayout &dim, const DimStructure &structure,
                                      const MeshShape &mesh);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_DIMSTRUCTURE_H

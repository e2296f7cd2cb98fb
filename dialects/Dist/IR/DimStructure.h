// The structure of a dimension: its segments and factors.
//
// A structure has a dimension's segments and factor sizes, but no axes: the view
// that the ops around a value have of one of its dimensions, before any decision
// how to cut it. Propagation gives every factor an identity (a loop). If two ops
// see different structures of a dimension, it needs a common one.

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
/// The layout with this structure in which no factor is cut.
DimLayout uncutLayout(const DimStructure &structure);
/// As text: `[3x4x8 + 5]`.
std::string toString(const DimStructure &structure);

/// The coarsest structure with exactly the segment boundaries of both structures,
/// in which every factor of either is a product of adjacent factors. None if there
/// is no such structure (2x3 and 3x2) or if the extents differ. A segment n x rest
/// may be split between its copies of rest, so the refinement of 3x4x8 and 4x8 +
/// 4x8 + 4x8 is the latter. A copy is split inside only if both of its ends are
/// boundaries. Factors of size 1 are dropped.
std::optional<DimStructure> commonRefinement(const DimStructure &a, const DimStructure &b);

/// `structure` without factors of size 1. A segment that has no other factors keeps
/// one.
DimStructure withoutOnes(const DimStructure &structure);

/// Whether the common refinement of `fine` and `coarse` is `fine`.
bool refines(const DimStructure &fine, const DimStructure &coarse);

/// `dim` rewritten with exactly the segments and factors of `structure`, so that
/// every device keeps the same indices. None if the cuts of `dim` do not fit them.
/// Factors of size 1 in `structure` are dropped.
std::optional<DimLayout> refineLayout(const DimLayout &dim, const DimStructure &structure,
                                      const MeshShape &mesh);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_DIMSTRUCTURE_H

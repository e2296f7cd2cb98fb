#ifndef DPC_PASSES_SHARDING_SEARCH_LOOPCUTS_H
#define DPC_PASSES_SHARDING_SEARCH_LOOPCUTS_H

#include "passes/Sharding/Search/OpPlacement.h"

#include <map>

namespace dpc {

/// Returns the layout of a dimension that consists of the atoms in `dim`. `sizeOf` returns the size
/// of an atom, and `cutsOf` returns the axes that cut an atom.
dist::DimLayout layOut(const AtomDim &dim, llvm::function_ref<int64_t(unsigned)> sizeOf,
                       llvm::function_ref<const dist::AxisNames *(unsigned)> cutsOf,
                       const dist::MeshShape &mesh);

/// Returns the layout of a dimension from the layouts of the loops that run along it. `segments`
/// lists the loops of each segment of the dimension, as in the sharding rule. `loops` has the
/// layout of each loop of the op.
dist::DimLayout composeDim(const ShardingRule::DimLoops &segments,
                           llvm::ArrayRef<dist::DimLayout> loops);

/// Removes all axes in `axes` from `dim`.
void dropAxes(dist::DimLayout &dim, llvm::ArrayRef<std::string> axes);

/// Restrictions on the cuts of an op's loops, in addition to the rules that LoopCutter always
/// applies.
struct CutRestrictions {
  /// For each axis: the loop that gets the axis before any other loop of the op.
  std::map<std::string, unsigned> first;
  /// The axes that may cut no reduction loop (`gathered`), and the axes that may cut no loop at
  /// all (`passed`).
  llvm::SmallVector<std::string> gathered, passed;
};

/// Cuts the loops of one op over the axes of the mesh.
class LoopCutter {
public:
  /// Keeps references to `situation` and `mesh`.
  LoopCutter(const OpSituation &situation, const dist::MeshShape &mesh);

  /// Cuts the op's loops one after the other, and returns the layout of each loop. Two loops
  /// collide if one axis cannot cut both (LoopCollisions.h). A loop does not get an axis that
  /// already cuts a colliding loop. A loop does not get an axis either if `restrictions.first`
  /// reserves the axis for a colliding loop.
  std::vector<dist::DimLayout> cut(const CutRestrictions &restrictions) const;

  /// Finds the loops that `axis` could cut. If some of them collide, returns these loops in the
  /// order in which `cut` cuts loops. If none of them collide, returns no loops, because `axis` can
  /// then cut all of them.
  llvm::SmallVector<unsigned> findRivals(llvm::StringRef axis) const;

private:
  /// Both functions return the layout of loop `l` without regard to other loops. cutAsAtoms applies
  /// no restrictions, and cutLoop applies `restrictions`.
  dist::DimLayout cutAsAtoms(unsigned l) const;
  dist::DimLayout cutLoop(unsigned l, const CutRestrictions &restrictions) const;
  /// Removes sequential axes from dimensions of several segments, because an iteration has only
  /// one slice of each value.
  void keepIterationsWhole(llvm::MutableArrayRef<dist::DimLayout> loops) const;

  const OpSituation &situation;
  const OpLoops &op;
  const dist::MeshShape &mesh;
  /// For each loop of `op`: whether no axis may cut the loop.
  llvm::SmallVector<bool> uncut;
  llvm::SmallVector<std::string> sequentialAxes;
  /// For each atom: its index in `op.atoms`.
  llvm::DenseMap<unsigned, unsigned> placeOf;
  /// For each loop: the result of cutAsAtoms. It is stored because computing it is slow for
  /// dimensions of many segments.
  llvm::SmallVector<dist::DimLayout> asAtoms;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_LOOPCUTS_H

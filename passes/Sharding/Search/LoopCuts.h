#ifndef DPC_PASSES_SHARDING_SEARCH_LOOPCUTS_H
#define DPC_PASSES_SHARDING_SEARCH_LOOPCUTS_H

#include "passes/Sharding/Search/OpPlacement.h"

#include <map>

namespace dpc {

/// Returns the layout of a dimension that is given in atoms. `cutsOf` returns the axes that cut an
/// atom.
dist::DimLayout layOut(const AtomDim &dim, llvm::function_ref<int64_t(unsigned)> sizeOf,
                       llvm::function_ref<const dist::AxisNames *(unsigned)> cutsOf,
                       const dist::MeshShape &mesh);

/// Returns the layout of a dimension from the layouts of its loops. `segments` names the loops
/// of each segment of the dimension, as the sharding rule has them.
dist::DimLayout composeDim(const ShardingRule::DimLoops &segments,
                           llvm::ArrayRef<dist::DimLayout> loops);

/// Removes all axes in `axes` from `dim`.
void dropAxes(dist::DimLayout &dim, llvm::ArrayRef<std::string> axes);

/// Restrictions on the cuts of an op's loops. Without restrictions, every loop is cut like its
/// atoms.
struct CutRestrictions {
  /// By axis: the loop that the axis cuts before any other loop.
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

  /// Cuts the op's loops one after the other, and returns the layout of each loop. A loop does not
  /// get an axis if the axis already cuts a loop that collides with it (LoopCollisions.h). The
  /// same holds if the loop collides with the loop that `restrictions` put first for the axis.
  std::vector<dist::DimLayout> cut(const CutRestrictions &restrictions) const;

  /// Returns the loops that `axis` could cut, in the order in which loops are cut, if some of
  /// them collide. Returns no loops if the axis can cut all of them together.
  llvm::SmallVector<unsigned> findRivals(llvm::StringRef axis) const;

private:
  /// The cuts of loop `l`, without regard to other loops. cutAsAtoms applies no restrictions,
  /// and cutLoop applies `restrictions`.
  dist::DimLayout cutAsAtoms(unsigned l) const;
  dist::DimLayout cutLoop(unsigned l, const CutRestrictions &restrictions) const;
  /// Removes sequential axes from dimensions of several segments, because an iteration has only
  /// one slice of each value.
  void keepIterationsWhole(llvm::MutableArrayRef<dist::DimLayout> loops) const;

  const OpSituation &situation;
  const OpLoops &op;
  const dist::MeshShape &mesh;
  /// By loop: whether it must not be cut in `op`.
  llvm::SmallVector<bool> uncut;
  llvm::SmallVector<std::string> sequentialAxes;
  /// By atom: its index in `op.atoms`.
  llvm::DenseMap<unsigned, unsigned> placeOf;
  /// By loop: the result of `cutAsAtoms`. It is stored because dimensions of many segments are
  /// long.
  llvm::SmallVector<dist::DimLayout> asAtoms;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_LOOPCUTS_H

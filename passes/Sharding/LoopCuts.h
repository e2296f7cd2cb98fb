#ifndef DPC_PASSES_SHARDING_LOOPCUTS_H
#define DPC_PASSES_SHARDING_LOOPCUTS_H

#include "passes/Sharding/OpPlacement.h"

#include <map>

namespace dpc {

/// The layout of a dimension that is given in atoms. `cutsOf` returns the axes that cut an atom.
dist::DimLayout layOut(const AtomDim &dim, llvm::function_ref<int64_t(unsigned)> sizeOf,
                       llvm::function_ref<const dist::AxisNames *(unsigned)> cutsOf,
                       const dist::MeshShape &mesh);

/// The layout of a dimension that consists of the loops `segments`. `loops` has the layouts of all
/// loops of the op.
dist::DimLayout composeDim(const ShardingRule::DimLoops &segments,
                           llvm::ArrayRef<dist::DimLayout> loops);

/// Removes all axes in `axes` from `dim`.
void dropAxes(dist::DimLayout &dim, llvm::ArrayRef<std::string> axes);

/// Restrictions on the cuts of an op's loops. Without restrictions every loop is cut like its
/// atoms.
struct CutRestrictions {
  /// By axis: the loop that it cuts before any other loop.
  std::map<std::string, unsigned> first;
  /// Axes that cut no reduction loop (`gathered`), and axes that cut no loop at all (`passed`).
  llvm::SmallVector<std::string> gathered, passed;
};

/// Cuts the loops of one op over the axes of the mesh.
class LoopCutter {
public:
  /// Keeps references to `situation` and `mesh`.
  LoopCutter(const OpSituation &situation, const dist::MeshShape &mesh);

  /// Cuts the op's loops one after the other, and returns the layout of each loop. A loop does not
  /// get an axis that may not cut it together with a loop before it, or together with the loop
  /// that comes first for the axis.
  std::vector<dist::DimLayout> cut(const CutRestrictions &restrictions) const;

  /// The loops that `axis` could cut if they do not allow it together, in the order in which they
  /// are cut; empty if it can cut all of them.
  llvm::SmallVector<unsigned> findRivals(llvm::StringRef axis) const;

private:
  /// The cuts of loop `l`, without regard to other loops: without restrictions, and under
  /// `restrictions`.
  dist::DimLayout cutAsAtoms(unsigned l) const;
  dist::DimLayout cutLoop(unsigned l, const CutRestrictions &restrictions) const;
  /// Removes sequential axes from dimensions of several segments, because an iteration has one
  /// slice of each value.
  void keepIterationsWhole(llvm::MutableArrayRef<dist::DimLayout> loops) const;

  const OpSituation &situation;
  const OpLoops &op;
  const dist::MeshShape &mesh;
  /// By loop: whether it must not be cut in `op`.
  llvm::SmallVector<bool> uncut;
  llvm::SmallVector<std::string> sequentialAxes;
  /// The place of each atom in `op.atoms`.
  llvm::DenseMap<unsigned, unsigned> placeOf;
  /// By loop: the result of `cutAsAtoms`. It is stored because dimensions of many segments are
  /// long.
  llvm::SmallVector<dist::DimLayout> asAtoms;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_LOOPCUTS_H

#ifndef DPC_PASSES_SHARDING_SEARCH_OPPLACEMENT_H
#define DPC_PASSES_SHARDING_SEARCH_OPPLACEMENT_H

#include "passes/Sharding/Atoms/Structure.h"
#include "passes/Sharding/Reshards/ReshardPrices.h"

namespace dpc {

/// The layouts in which one op works.
struct OpPlacement {
  std::vector<dist::Layout> operands;
  std::vector<dist::Layout> results;
  /// One per loop of the rule. If an axis cuts a reduction loop (`sum`, `max` or `min`), the
  /// results are partial over this axis.
  std::vector<dist::DimLayout> loops;
  /// The modelled seconds that a device computes.
  double seconds = 0;
};

/// When the partial sums in an operand are reduced. `reducedSmaller`: before or after the op, on
/// the side that has fewer bytes. `reducedFirst`: before the op. `reducedLast`: after the op.
enum class PartialSums : unsigned { reducedSmaller, reducedFirst, reducedLast };

/// All facts on which the layouts of one op depend. Equal ops in equal situations get equal
/// layouts.
struct OpSituation {
  const OpLoops &op;
  /// An operand: its layout, the layouts to which it was already resharded for earlier readers, and
  /// when partial sums in it should be reduced.
  struct Operand {
    const dist::Layout *layout;
    llvm::SmallVector<const dist::Layout *, 2> made;
    PartialSums sums;
  };
  llvm::SmallVector<Operand, 4> operands;
  /// The layout that each result must have in the end; null for any layout. If the result is the
  /// next value of a state, this is the layout of the state. Otherwise it may be a requested
  /// layout.
  llvm::SmallVector<const dist::Layout *, 2> wanted;
  /// The axes that cut each of `op.atoms`, outermost first; null for none.
  llvm::SmallVector<const dist::AxisNames *, 8> cuts;
};

/// Chooses the layouts of an op. Each of its loops is cut like the atoms of the loop, if possible.
/// An additive op may pass the partial sums in its operands on to its result. If the op reads an
/// operand in another layout than the operand has, the operand is resharded before the op.
///
/// If an axis could cut several loops, but not all of them together, it cuts the loop with which
/// the op takes the least time. Reduction loops are cut too. The exception is an axis over which
/// gathering the operands is at least twice as fast as reducing the result, for example if a few
/// rows are scattered into a large table.
OpPlacement placeOp(const OpSituation &situation, const dist::MeshShape &mesh,
                    const MeshPrices &meshPrices, ReshardPrices &prices);

/// Returns the axes that cut any loop of the op, in order of first appearance.
dist::AxisNames findCutAxes(const OpPlacement &placement);

/// Whether all devices along `axis` compute the same part of `op`, although the op has a loop that
/// could be divided. `cutAxes` are the axes that cut any loop of the op. Updates of state never
/// count as idle, because they are divided later, in flat storage.
bool isIdle(const OpLoops &op, llvm::ArrayRef<std::string> cutAxes, llvm::StringRef axis);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_OPPLACEMENT_H

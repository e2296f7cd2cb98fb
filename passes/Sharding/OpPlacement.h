#ifndef DPC_PASSES_SHARDING_OPPLACEMENT_H
#define DPC_PASSES_SHARDING_OPPLACEMENT_H

#include "passes/Sharding/ReshardPrices.h"
#include "passes/Sharding/Structure.h"

#include <map>

namespace dpc {

/// The layouts one op works in.
struct OpPlacement {
  std::vector<dist::Layout> operands;
  std::vector<dist::Layout> results;
  /// One a loop of the rule; axes on `sum` loops made the results partial.
  std::vector<dist::DimLayout> loops;
  /// Modelled seconds that a device computes.
  double seconds = 0;
};

/// When partial sums are reduced that an op reads: before it, behind it, or where they have
/// fewer bytes.
enum class PartialSums : unsigned { reducedSmaller, reducedFirst, reducedLast };

/// All that the layouts of one op depend on: alike ops in alike situations are
/// placed alike.
struct OpSituation {
  const OpLoops &op;
  /// An operand: how it lies, in which layouts readers before have had it, and
  /// when partial sums in it had better be reduced.
  struct Operand {
    const dist::Layout *layout;
    llvm::SmallVector<const dist::Layout *, 2> made;
    PartialSums sums;
  };
  llvm::SmallVector<Operand, 4> operands;
  /// How a result has to lie in the end: as the state whose next value it is, or as
  /// somebody asks; null for any.
  llvm::SmallVector<const dist::Layout *, 2> wanted;
  /// The axes that cut each of `op.atoms`, outermost first; null for none.
  llvm::SmallVector<const dist::AxisNames *, 8> cuts;
};

/// A product of atoms as a layout, where `cutsOf` has the axes of an atom.
dist::DimLayout layOut(const AtomDim &dim, llvm::function_ref<int64_t(unsigned)> sizeOf,
                       llvm::function_ref<const dist::AxisNames *(unsigned)> cutsOf,
                       const dist::MeshShape &mesh);

/// The layouts of an op: each of its loops is cut as its atoms are, where it can
/// be, partial sums are passed on where the op is additive, and everything else
/// is resharded on the way in.
///
/// Of loops that an axis could cut, but not together, the one with which the op
/// takes the least time gets it. Reduction loops are cut, except over axes on
/// which it is at least twice as fast to bring the operands together as to
/// reduce the result (a few rows that are scattered into a large table).
OpPlacement placeOp(const OpSituation &situation, const dist::MeshShape &mesh,
                    const Machine &machine, ReshardPrices &prices);

/// The axes that cut any loop, in order of first appearance.
dist::AxisNames findCutAxes(const OpPlacement &placement);

/// Whether devices along `axis` all compute the same of `op`, though it has a loop
/// that could be divided. `cutAxes` are those that cut any of its loops. Updates of
/// state do not count: they are divided later, in flat storage.
bool isIdle(const OpLoops &op, llvm::ArrayRef<std::string> cutAxes, llvm::StringRef axis);

/// Removes every axis from `dim` that `axes` holds.
void dropAxes(dist::DimLayout &dim, llvm::ArrayRef<std::string> axes);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_OPPLACEMENT_H

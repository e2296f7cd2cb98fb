#ifndef DPC_PASSES_SHARDING_PLACEMENT_H
#define DPC_PASSES_SHARDING_PLACEMENT_H

#include "passes/Sharding/Structure.h"
#include "planning/Machine.h"

#include <map>

namespace dpc {

/// Which axes cut which atom, outermost first.
using AxisPlan = std::map<unsigned, dist::AxisNames>;

/// The layouts one op works in.
struct OpPlacement {
  std::vector<dist::Layout> operands;
  std::vector<dist::Layout> results;
  /// One a loop of the rule; axes on `sum` loops made the results partial.
  std::vector<dist::DimLayout> loops;
};

/// Layouts of every value of a function under an axis plan, and what moving
/// data between them costs. Walks the ops in order: an op cuts each of its
/// loops by the plan where it can, takes partial sums where it is additive,
/// and everything else is resharded on the way in.
class Assignment {
public:
  /// `mesh` and `machine` outlive the assignment.
  Assignment(const ProgramLoops &program, const AxisPlan &plan, const dist::MeshShape &mesh,
             const Machine &machine)
      : program(program), plan(plan), mesh(mesh), machine(machine) {}

  /// The layout of `value` by its atoms alone: what arguments get.
  dist::Layout getNatural(mlir::Value value) const;

  /// Assigns everything, from `arguments` (value, layout) on.
  void run(llvm::ArrayRef<std::pair<mlir::Value, dist::Layout>> arguments);

  const OpPlacement &getPlacement(unsigned op) const { return placements[op]; }
  const dist::Layout &getLayout(mlir::Value value) const { return layouts.find(value)->second; }

  /// Modelled seconds of one step on one device: compute and reshards.
  double getSeconds() const { return seconds; }

  /// Modelled seconds of turning a tensor of `bytes` from one layout into
  /// another; 0 when they are the same.
  double reshardSeconds(const dist::Layout &from, const dist::Layout &to, int64_t bytes) const;

private:
  /// The layouts of an op: reduction loops are cut by the plan, except over
  /// axes on which it is at least twice as fast to bring the operands together
  /// as to reduce the result (a few rows that are scattered into a large
  /// table).
  OpPlacement place(const OpLoops &op);
  /// The same with `gathered` axes kept off reduction loops.
  OpPlacement placeWithout(const OpLoops &op, llvm::ArrayRef<std::string> gathered) const;
  /// Cuts the op's loops by the plan, one after the other: a loop does not get
  /// an axis that may not cut it together with those before.
  void cutLoops(const OpLoops &op, llvm::ArrayRef<std::string> gathered,
                OpPlacement &placement) const;
  /// How the plan cuts loop `l` alone.
  dist::DimLayout cutLoop(const OpLoops &op, unsigned l,
                          llvm::ArrayRef<std::string> gathered) const;
  /// Whether the op takes `partial` sums in the operands of `set`, in which it
  /// is additive, and passes them on: where nothing of the op is cut over their
  /// axis, and the result is no larger than what would be reduced before it.
  /// Sums over a sequential axis always pass, since a loop adds them up.
  bool passesThrough(const OpLoops &op, const OpPlacement &placement, llvm::ArrayRef<unsigned> set,
                     const dist::Partial &partial) const;
  /// Modelled seconds of the op under `placement`, its operands resharded and
  /// its results reduced.
  double placementSeconds(const OpLoops &op, const OpPlacement &placement) const;
  double computeSeconds(const OpLoops &op, const OpPlacement &placement) const;
  dist::DimLayout layoutOf(const AtomDim &dim) const;
  llvm::SmallVector<std::string> sequentialAxes() const;
  /// Takes sequential axes off dimensions of several segments: an iteration has
  /// one slice of each value.
  void keepIterationsWhole(const OpLoops &op, OpPlacement &placement) const;

  const ProgramLoops &program;
  const AxisPlan &plan;
  const dist::MeshShape &mesh;
  const Machine &machine;
  std::vector<OpPlacement> placements;
  // Looked up by key only: its order never shows.
  llvm::DenseMap<mlir::Value, dist::Layout> layouts;
  double seconds = 0;
};

/// True when every device holds the same of both, partial axes included.
bool sameLayout(const dist::Layout &a, const dist::Layout &b, const dist::MeshShape &mesh);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_PLACEMENT_H

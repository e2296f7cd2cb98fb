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

/// What a device moves through its links.
struct Traffic {
  double bytes = 0;
  /// By the model.
  double seconds = 0;

  void add(const Link &link, double moved) {
    bytes += moved;
    seconds += link.transferSeconds(moved);
  }
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

  /// Layouts that `value` is brought to for its readers.
  llvm::ArrayRef<dist::Layout> getReads(mlir::Value value) const {
    auto known = reads.find(value);
    return known == reads.end() ? llvm::ArrayRef<dist::Layout>() : known->second;
  }

  /// Modelled seconds of one step on one device: compute and reshards.
  double getSeconds() const { return computing + moving.seconds; }
  /// Those of reshards alone, and the bytes that one device sends for them.
  const Traffic &getTraffic() const { return moving; }

  /// What turning a tensor of `bytes` from one layout into another moves; nothing
  /// when they are the same.
  Traffic reshardTraffic(const dist::Layout &from, const dist::Layout &to, int64_t bytes) const;

private:
  unsigned countOps(const AtomDim &dim) const;
  bool isPartial(const dist::Layout &layout) const;
  /// One walk through the ops.
  void runOnce(llvm::ArrayRef<std::pair<mlir::Value, dist::Layout>> arguments);
  /// Partial sums that had better be reduced before anything reads them: those of
  /// which more bytes are reduced later, by several readers.
  llvm::DenseSet<mlir::Value> findReducedFirst() const;

  /// Loops that an axis cuts before any other.
  using Priorities = std::map<std::string, unsigned>;

  /// The layouts of an op. Of loops that an axis could cut, but not together, the
  /// one with which the op takes the least time gets it. Reduction loops are cut
  /// by the plan, except over axes on which it is at least twice as fast to bring
  /// the operands together as to reduce the result (a few rows that are scattered
  /// into a large table).
  OpPlacement place(const OpLoops &op);
  /// The same with `gathered` axes kept off reduction loops.
  OpPlacement placeWithout(const OpLoops &op, llvm::ArrayRef<std::string> gathered,
                           const Priorities &first) const;
  /// Cuts the op's loops by the plan, one after the other: a loop does not get
  /// an axis that may not cut it together with those before, or with the one
  /// that is first for it.
  void cutLoops(const OpLoops &op, llvm::ArrayRef<std::string> gathered, const Priorities &first,
                OpPlacement &placement) const;
  llvm::SmallVector<unsigned> findRivals(const OpLoops &op, llvm::StringRef axis) const;
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
  double shareOf(const dist::DimLayout &dim) const;
  double computeSeconds(const OpLoops &op, const OpPlacement &placement) const;
  /// What reading `value` laid out as `to` moves; nothing where it was so read
  /// before.
  Traffic readTraffic(mlir::Value value, const dist::Layout &to) const;
  void read(mlir::Value value, const dist::Layout &to);
  dist::DimLayout layoutOf(const AtomDim &dim) const;
  llvm::SmallVector<std::string> sequentialAxes() const;
  /// Takes sequential axes off dimensions of several segments: an iteration has
  /// one slice of each value.
  void keepIterationsWhole(const OpLoops &op, OpPlacement &placement) const;

  const ProgramLoops &program;
  const AxisPlan &plan;
  const dist::MeshShape &mesh;
  const Machine &machine;
  llvm::DenseSet<mlir::Value> reducedFirst;
  std::vector<OpPlacement> placements;
  // Looked up by key only: its order never shows.
  llvm::DenseMap<mlir::Value, dist::Layout> layouts;
  /// Layouts that readers have asked for: each is made once.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<dist::Layout, 1>> reads;
  double computing = 0;
  Traffic moving;
};

/// True when every device holds the same of both, partial axes included.
bool sameLayout(const dist::Layout &a, const dist::Layout &b, const dist::MeshShape &mesh);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_PLACEMENT_H

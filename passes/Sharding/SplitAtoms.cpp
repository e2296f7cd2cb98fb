// Finds the ops that a mesh axis leaves idle, and loops of theirs that it could cut.

#include "passes/Sharding/SplitAtoms.h"

#include "dialects/NN/IR/NNDialect.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

/// Part of a component's work that must be parallel in an atom for it to be tried.
static const double kMostWork = 0.5;
/// Atoms tried for a component, those with most work first.
static const size_t kMostAtoms = 4;

namespace {

/// Ops that are idle together, and how much work they are.
struct Component {
  SmallVector<unsigned> ops;
  double seconds = 0;
};

} // namespace

/// The components of ops that `axis` leaves idle, dearest first.
static std::vector<Component> findIdle(const ProgramLoops &program, const Assignment &assignment,
                                       StringRef axis) {
  llvm::EquivalenceClasses<unsigned> classes;
  std::vector<int> makers(program.getValues().size(), -1);
  for (auto [index, op] : llvm::enumerate(program.getOps())) {
    if (!isIdle(op, assignment.getPlacement(index), axis))
      continue;
    classes.insert(index);
    for (unsigned operand : op.operands)
      if (makers[operand] >= 0 && nn::typeOf(program.getValues()[operand]).getNumElements() > 1)
        classes.unionSets(makers[operand], index);
    for (unsigned result : op.results)
      makers[result] = index;
  }
  llvm::MapVector<unsigned, Component> components;
  for (unsigned index = 0; index < program.getOps().size(); ++index)
    if (auto leader = classes.findLeader(index); leader != classes.member_end()) {
      Component &component = components[*leader];
      component.ops.push_back(index);
      component.seconds += assignment.getPlacement(index).seconds;
    }
  std::vector<Component> result;
  for (auto &[leader, component] : components)
    result.push_back(std::move(component));
  llvm::stable_sort(result,
                    [](const Component &a, const Component &b) { return a.seconds > b.seconds; });
  return result;
}

/// The atoms that most of the component's work runs in parallel.
static SmallVector<unsigned> findAtoms(const ProgramLoops &program, const Assignment &assignment,
                                       const Component &component, int64_t devices) {
  llvm::MapVector<unsigned, double> work;
  for (unsigned index : component.ops) {
    const OpLoops &op = program.getOps()[index];
    SmallVector<unsigned> parallel;
    for (auto [loop, atoms] : llvm::zip_equal(op.rule.loops, op.loops))
      if (loop.kind == LoopKind::parallel)
        for (const auto &segment : atoms)
          for (unsigned atom : segment)
            if (program.getSize(atom) >= devices && !llvm::is_contained(parallel, atom))
              parallel.push_back(atom);
    for (unsigned atom : parallel)
      work[atom] += assignment.getPlacement(index).seconds;
  }
  SmallVector<std::pair<unsigned, double>> order = work.takeVector();
  llvm::erase_if(order,
                 [&](const auto &entry) { return entry.second < kMostWork * component.seconds; });
  llvm::stable_sort(order, [](const auto &a, const auto &b) { return a.second > b.second; });
  SmallVector<unsigned> atoms;
  for (const auto &[atom, seconds] : ArrayRef(order).take_front(kMostAtoms))
    atoms.push_back(atom);
  return atoms;
}

SplitPlan dpc::splitIdleOps(SplitPlan from, ArrayRef<std::string> axes, const MeshShape &mesh,
                            AssignPlan assign, CostOf costOf) {
  SplitPlan best = std::move(from);
  for (const std::string &axis : axes) {
    if (mesh.axisSize(axis) == 1)
      continue;
    std::unique_ptr<Assignment> current = assign(best.program, best.plan);
    PlanCost cost = costOf(*current);
    const std::vector<Component> components = findIdle(best.program, *current, axis);
    for (const Component &component : components) {
      // What is a small part of the step is not worth the search.
      if (component.seconds < 1e-4 * cost.seconds)
        break;
      std::optional<SplitPlan> chosen;
      for (unsigned atom : findAtoms(best.program, *current, component, mesh.axisSize(axis))) {
        SplitPlan trial = best;
        const unsigned made = trial.program.splitAtom(atom, component.ops);
        if (auto cuts = trial.plan.find(atom); cuts != trial.plan.end())
          trial.plan[made] = cuts->second;
        if (llvm::is_contained(trial.plan[made], axis))
          continue;
        trial.plan[made].push_back(axis);
        const PlanCost trialCost = costOf(*assign(trial.program, trial.plan));
        if (trialCost.isBetterThan(cost)) {
          cost = trialCost;
          chosen = std::move(trial);
        }
      }
      if (chosen) {
        best = std::move(*chosen);
        current = assign(best.program, best.plan);
      }
    }
  }
  return best;
}

// Finds the ops that a mesh axis leaves idle, and loops of theirs that it could cut.

#include "passes/Sharding/SplitAtoms.h"

#include "dialects/NN/IR/HostFacts.h"
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
/// Part of the step that a component must be to be tried.
static const double kLeastPart = 1e-4;

namespace {

/// Ops that are idle together, and how much work they are.
struct Component {
  SmallVector<unsigned> ops;
  double seconds = 0;
};

} // namespace

/// The components of ops that `axis` leaves idle, dearest first: ops that read one
/// another's results, or the same sum over the axis.
static std::vector<Component> findIdle(const ProgramLoops &program, const Assignment &assignment,
                                       StringRef axis) {
  llvm::EquivalenceClasses<unsigned> classes;
  // Of each value the idle op that made it, or the first one that reads the sum.
  std::vector<int> joined(program.getValues().size(), -1);
  auto isSum = [&](Value value) {
    return llvm::is_contained(assignment.getLayout(value).partial,
                              Partial{axis.str(), Reduction::Sum});
  };
  for (auto [index, op] : llvm::enumerate(program.getOps())) {
    if (!isIdle(op, assignment.getPlacement(index), axis))
      continue;
    classes.insert(index);
    for (unsigned operand : op.operands) {
      Value value = program.getValues()[operand];
      if (nn::typeOf(value).getNumElements() == 1)
        continue;
      if (joined[operand] >= 0)
        classes.unionSets(joined[operand], index);
      else if (isSum(value))
        joined[operand] = index;
    }
    for (unsigned result : op.results)
      joined[result] = index;
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

/// Ops of the component that make values which shall be cut over `axis`, with the atoms
/// of the dimensions asked for.
static std::vector<std::pair<unsigned, AtomDim>> findAsked(const ProgramLoops &program,
                                                           const Component &component,
                                                           ArrayRef<LayoutRequest> requests,
                                                           StringRef axis) {
  std::vector<std::pair<unsigned, AtomDim>> asked;
  for (const LayoutRequest &request : requests)
    for (auto [d, axes] : llvm::enumerate(request.dims)) {
      if (!llvm::is_contained(axes, axis))
        continue;
      for (unsigned index : component.ops)
        if (program.getOps()[index].op == request.value.getDefiningOp())
          asked.push_back({index, program.getDim(request.value, d)});
    }
  return asked;
}

/// Whether `op` sums over a dimension of a parameter, or looks up in it.
static bool contractsParameter(const OpLoops &op) {
  return llvm::any_of(op.rule.loops,
                      [](const ShardingRule::Loop &loop) { return loop.kind == LoopKind::sum; }) &&
         llvm::any_of(op.op->getOperands(), [](Value value) {
           auto argument = dyn_cast<BlockArgument>(value);
           if (!argument)
             return false;
           auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
           nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber());
           return arg && arg.getKind() == nn::ArgKind::parameter;
         });
}

namespace {

/// Divides components of ops that one axis leaves idle.
class Splitter {
public:
  Splitter(SplitPlan from, StringRef axis, ArrayRef<unsigned> samples, AssignPlan assign,
           CostOf costOf)
      : best(std::move(from)), axis(axis.str()), samples(samples), assign(assign), costOf(costOf),
        current(assign(best.program, best.plan)), cost(costOf(*current)) {}

  void run(ArrayRef<LayoutRequest> requests, int64_t devices);
  SplitPlan take() { return std::move(best); }

private:
  struct Trial {
    SplitPlan plan;
    PlanCost cost;
  };
  /// The plan in which the axis cuts an atom of `ops` alone in the place of `atom`;
  /// none if it cuts that already.
  std::optional<Trial> tryAtom(unsigned atom, ArrayRef<unsigned> ops) const;
  void accept(Trial &&trial);
  /// Divides what is asked for.
  void divideAsked(const Component &component, ArrayRef<LayoutRequest> requests, int64_t devices);
  /// Divides the component if the program gets better by that.
  void divide(const Component &component, int64_t devices);

  SplitPlan best;
  const std::string axis;
  ArrayRef<unsigned> samples;
  AssignPlan assign;
  CostOf costOf;
  std::unique_ptr<Assignment> current;
  PlanCost cost;
};

} // namespace

std::optional<Splitter::Trial> Splitter::tryAtom(unsigned atom, ArrayRef<unsigned> ops) const {
  SmallVector<unsigned> left;
  if (llvm::is_contained(samples, atom)) {
    llvm::copy_if(ops, std::back_inserter(left), [&](unsigned index) {
      return !contractsParameter(best.program.getOps()[index]);
    });
    ops = left;
    if (ops.empty())
      return std::nullopt;
  }
  SplitPlan plan = best;
  const unsigned made = plan.program.splitAtom(atom, ops);
  if (auto cuts = plan.plan.find(atom); cuts != plan.plan.end())
    plan.plan[made] = cuts->second;
  if (llvm::is_contained(plan.plan[made], axis))
    return std::nullopt;
  plan.plan[made].push_back(axis);
  const PlanCost cost = costOf(*assign(plan.program, plan.plan));
  return Trial{std::move(plan), cost};
}

void Splitter::accept(Trial &&trial) {
  best = std::move(trial.plan);
  cost = trial.cost;
  current = assign(best.program, best.plan);
}

void Splitter::divideAsked(const Component &component, ArrayRef<LayoutRequest> requests,
                           int64_t devices) {
  for (const auto &[index, dim] : findAsked(best.program, component, requests, axis)) {
    // With what was asked for before it, the op may be divided by now.
    if (!isIdle(best.program.getOps()[index], current->getPlacement(index), axis))
      continue;
    std::optional<Trial> chosen;
    for (const auto &segment : dim)
      for (unsigned atom : segment) {
        if (best.program.getSize(atom) < devices)
          continue;
        for (ArrayRef<unsigned> ops : {ArrayRef(component.ops), ArrayRef(index)})
          if (std::optional<Trial> trial = tryAtom(atom, ops);
              trial && (!chosen || trial->cost.isBetterThan(chosen->cost)))
            chosen = std::move(trial);
      }
    if (chosen)
      accept(std::move(*chosen));
  }
}

void Splitter::divide(const Component &component, int64_t devices) {
  std::optional<Trial> chosen;
  for (unsigned atom : findAtoms(best.program, *current, component, devices))
    if (std::optional<Trial> trial = tryAtom(atom, component.ops);
        trial && trial->cost.isBetterThan(chosen ? chosen->cost : cost))
      chosen = std::move(trial);
  if (chosen)
    accept(std::move(*chosen));
}

void Splitter::run(ArrayRef<LayoutRequest> requests, int64_t devices) {
  const std::vector<Component> asked = findIdle(best.program, *current, axis);
  for (const Component &component : asked)
    divideAsked(component, requests, devices);
  const std::vector<Component> components = findIdle(best.program, *current, axis);
  for (const Component &component : components) {
    // What is a small part of the step is not worth the search.
    if (component.seconds < kLeastPart * cost.seconds)
      break;
    divide(component, devices);
  }
}

SplitPlan dpc::splitIdleOps(SplitPlan from, ArrayRef<std::string> axes,
                            ArrayRef<LayoutRequest> requests, ArrayRef<unsigned> samples,
                            const MeshShape &mesh, AssignPlan assign, CostOf costOf) {
  for (const std::string &axis : axes) {
    if (mesh.axisSize(axis) == 1)
      continue;
    Splitter splitter(std::move(from), axis, samples, assign, costOf);
    splitter.run(requests, mesh.axisSize(axis));
    from = splitter.take();
  }
  return from;
}

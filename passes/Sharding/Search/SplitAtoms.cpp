// Finds the ops that are idle for a mesh axis, because the axis cuts none of their loops. Divides
// these ops along loops that the axis can cut.

#include "passes/Sharding/Search/SplitAtoms.h"

#include "dialects/NN/IR/Conversions.h"
#include "dialects/NN/IR/HostFacts.h"
#include "dialects/NN/IR/NNDialect.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

/// A component is a set of connected idle ops. An atom is tried for a component only if ops in
/// which it is a parallel loop have at least this fraction of the component's work.
static const double kMostWork = 0.5;
/// The largest number of atoms that are tried for a component, those with the most work first.
static const size_t kMostAtoms = 4;
/// A group of components is tried only if it takes at least this fraction of the time of the step.
static const double kLeastPart = 1e-4;

namespace {

/// Connected ops that are idle, and the seconds that a device needs to compute them.
struct Component {
  SmallVector<unsigned> ops;
  double seconds = 0;
};

/// Components of repeated layers. All components of a group have the same ops in the same
/// order, and their ops share atoms in the same way.
struct Group {
  std::vector<Component> components;
  double seconds = 0;
};

/// Ops that get a new atom, and the atom that the new atom replaces.
struct Division {
  unsigned atom;
  SmallVector<unsigned> ops;
};

} // namespace

/// Returns the components of ops that are idle for `axis`, those with the most seconds first. Two
/// ops are in one component if one of them reads a result of the other. They are also in one
/// component if both read the same partial sum over the axis. Values of one element connect no ops.
static std::vector<Component> findIdle(const ProgramLoops &program, const Assignment &assignment,
                                       StringRef axis) {
  llvm::EquivalenceClasses<unsigned> classes;
  // By value: the idle op that made it. If the value is a partial sum over the axis, the first
  // idle op that reads it; -1 for no op.
  std::vector<int> joined(program.getValues().size(), -1);
  auto isSum = [&](Value value) {
    return llvm::is_contained(assignment.getLayout(value).partial,
                              Partial{axis.str(), Reduction::sum});
  };
  for (auto [index, op] : llvm::enumerate(program.getOps())) {
    if (!assignment.isIdle(index, axis))
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
      component.seconds += assignment.getSeconds(index);
    }
  std::vector<Component> result;
  for (auto &[leader, component] : components)
    result.push_back(std::move(component));
  llvm::stable_sort(result,
                    [](const Component &a, const Component &b) { return a.seconds > b.seconds; });
  return result;
}

/// The atoms of the ops of a component, each once, in order of first appearance.
static SmallVector<unsigned> atomsOf(const ProgramLoops &program, const Component &component) {
  SmallVector<unsigned> atoms;
  llvm::DenseSet<unsigned> seen;
  for (unsigned index : component.ops)
    for (unsigned atom : program.getOps()[index].atoms)
      if (seen.insert(atom).second)
        atoms.push_back(atom);
  return atoms;
}

/// Returns a key for a component. Components with equal keys form one group.
static std::vector<unsigned> shapeOf(const ProgramLoops &program, const Component &component) {
  std::vector<unsigned> shape;
  llvm::DenseMap<unsigned, unsigned> numbers;
  for (unsigned index : component.ops) {
    const OpLoops &op = program.getOps()[index];
    shape.push_back(op.kind);
    for (unsigned atom : op.atoms)
      shape.push_back(numbers.try_emplace(atom, numbers.size()).first->second);
  }
  return shape;
}

/// Returns the groups of components that are idle for `axis`, those with the most seconds first.
static std::vector<Group> findGroups(const ProgramLoops &program, const Assignment &assignment,
                                     StringRef axis) {
  std::map<std::vector<unsigned>, size_t> numbers;
  std::vector<Group> groups;
  for (Component &component : findIdle(program, assignment, axis)) {
    auto [number, isNew] = numbers.try_emplace(shapeOf(program, component), groups.size());
    if (isNew)
      groups.emplace_back();
    Group &group = groups[number->second];
    group.seconds += component.seconds;
    group.components.push_back(std::move(component));
  }
  llvm::stable_sort(groups, [](const Group &a, const Group &b) { return a.seconds > b.seconds; });
  return groups;
}

/// Returns the divisions of all components of a group. `atom` is an atom of the first
/// component. Each other component is divided along its own atom at the same position.
static std::vector<Division> divisionsOf(const ProgramLoops &program, const Group &group,
                                         unsigned atom) {
  const SmallVector<unsigned> first = atomsOf(program, group.components.front());
  const size_t position = llvm::find(first, atom) - first.begin();
  llvm::MapVector<unsigned, SmallVector<unsigned>> ops;
  for (const Component &component : group.components)
    llvm::append_range(ops[atomsOf(program, component)[position]], component.ops);
  std::vector<Division> divisions;
  for (auto &[each, members] : ops)
    divisions.push_back({each, std::move(members)});
  return divisions;
}

/// Returns the atoms that are parallel loops in most of the component's work (kMostWork), those
/// with more work first.
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
      work[atom] += assignment.getSeconds(index);
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

/// Returns the ops of the component whose results a request wants to be cut over `axis`. Each
/// op comes with the atoms of the requested dimension.
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

/// Whether `op` sums over a dimension of a parameter, or looks up rows of one. A conversion of
/// a parameter counts as the parameter.
static bool contractsParameter(const OpLoops &op) {
  return llvm::any_of(op.rule.loops,
                      [](const ShardingRule::Loop &loop) { return loop.kind == LoopKind::sum; }) &&
         llvm::any_of(op.op->getOperands(), [](Value value) {
           auto argument = dyn_cast<BlockArgument>(nn::getSource(value));
           if (!argument)
             return false;
           auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
           nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber());
           return arg && arg.getKind() == nn::ArgKind::parameter;
         });
}

namespace {

/// Divides the components of ops that are idle for one axis.
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
  /// Returns the plan in which the axis cuts the new atoms of all `divisions`; nullopt if no
  /// division is possible, e.g. because the axis cuts the old atoms already. If `asked` is given, a
  /// request wants the result of this op. The op may then be divided along samples even if
  /// contractsParameter() holds for it.
  std::optional<Trial> tryDivisions(ArrayRef<Division> divisions,
                                    std::optional<unsigned> asked = std::nullopt) const;
  void accept(Trial &&trial);
  /// Divides the ops of a component whose results should be cut over the axis according to a
  /// request.
  void divideAsked(const Component &component, ArrayRef<LayoutRequest> requests, int64_t devices);
  /// Divides the components of the group if this makes the program better.
  void divide(const Group &group, int64_t devices);

  SplitPlan best;
  const std::string axis;
  ArrayRef<unsigned> samples;
  AssignPlan assign;
  CostOf costOf;
  std::unique_ptr<Assignment> current;
  PlanCost cost;
};

} // namespace

std::optional<Splitter::Trial> Splitter::tryDivisions(ArrayRef<Division> divisions,
                                                      std::optional<unsigned> asked) const {
  SplitPlan plan = best;
  bool isDivided = false;
  for (const Division &division : divisions) {
    SmallVector<unsigned> ops = division.ops;
    if (llvm::is_contained(samples, division.atom))
      llvm::erase_if(ops, [&](unsigned index) {
        return index != asked && contractsParameter(best.program.getOps()[index]);
      });
    auto cuts = plan.plan.find(division.atom);
    if (ops.empty() || (cuts != plan.plan.end() && llvm::is_contained(cuts->second, axis)))
      continue;
    const AxisNames around = cuts == plan.plan.end() ? AxisNames() : cuts->second;
    AxisNames &own = plan.plan[plan.program.splitAtom(division.atom, ops)];
    own = around;
    own.push_back(axis);
    isDivided = true;
  }
  if (!isDivided)
    return std::nullopt;
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
    // The op may have been divided by now, together with an op that was requested before it.
    if (!current->isIdle(index, axis))
      continue;
    std::optional<Trial> chosen;
    for (const auto &segment : dim)
      for (unsigned atom : segment) {
        if (best.program.getSize(atom) < devices)
          continue;
        for (const SmallVector<unsigned> &ops : {component.ops, SmallVector<unsigned>{index}})
          if (std::optional<Trial> trial = tryDivisions(Division{atom, ops}, index);
              trial && (!chosen || trial->cost.isBetterThan(chosen->cost)))
            chosen = std::move(trial);
      }
    if (chosen)
      accept(std::move(*chosen));
  }
}

void Splitter::divide(const Group &group, int64_t devices) {
  std::optional<Trial> chosen;
  for (unsigned atom : findAtoms(best.program, *current, group.components.front(), devices))
    if (std::optional<Trial> trial = tryDivisions(divisionsOf(best.program, group, atom));
        trial && trial->cost.isBetterThan(chosen ? chosen->cost : cost))
      chosen = std::move(trial);
  if (chosen)
    accept(std::move(*chosen));
}

void Splitter::run(ArrayRef<LayoutRequest> requests, int64_t devices) {
  const std::vector<Component> asked = findIdle(best.program, *current, axis);
  for (const Component &component : asked)
    divideAsked(component, requests, devices);
  const std::vector<Group> groups = findGroups(best.program, *current, axis);
  for (const Group &group : groups) {
    // A group that is a small part of the step is not worth the search.
    if (group.seconds < kLeastPart * cost.seconds)
      break;
    divide(group, devices);
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

// Searches for layouts of one function, divides idle ops (SplitAtoms.h) among devices, and chooses
// a plan.

#include "passes/Sharding/Search/LayoutPlanner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

/// The largest number of times that the cuts are searched again after idle ops have been divided.
static const unsigned kImprovements = 3;
/// Each search after idle ops have been divided has the budget of a complete search divided
/// by this number.
static const size_t kSmallerBudget = 4;

/// Returns the composites that need one of their loops uncut (LoopKind::whole) although the plan
/// cuts this loop.
static SmallVector<DecomposableOpInterface> cutComposites(const ProgramLoops &program,
                                                          const AxisPlan &plan) {
  SmallVector<DecomposableOpInterface> cut;
  for (const OpLoops &op : program.getOps()) {
    auto composite = dyn_cast<DecomposableOpInterface>(op.op);
    if (!composite)
      continue;
    bool isCut = false;
    for (auto [loop, atoms] : llvm::zip_equal(op.rule.loops, op.loops))
      if (loop.kind == LoopKind::whole)
        for (const auto &segment : atoms)
          for (unsigned atom : segment)
            isCut |= plan.count(atom) > 0;
    if (isCut)
      cut.push_back(composite);
  }
  return cut;
}

/// Returns the cuts of a plan that the problem does not give, as text for a remark.
static std::string textOf(const ProgramLoops &program, const LayoutProblem &problem,
                          const AxisPlan &plan) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const auto &[atom, axes] : plan)
    if (!problem.given.count(atom))
      stream << ", " << program.getSize(atom) << " over " << llvm::join(axes, "+");
  return text;
}

LayoutPlanner::LayoutPlanner(const LayoutBoundary &boundary, const ProgramLoops &program,
                             const MeshShape &mesh, PlacementCache &cache,
                             const LayoutWishes &wishes)
    : boundary(boundary), program(program), mesh(mesh), cache(cache), wishes(wishes),
      returned(boundary.getReturned()), candidates(findCandidates()) {
  findProblem();
}

std::unique_ptr<Assignment> LayoutPlanner::assign(const ProgramLoops &trial,
                                                  const AxisPlan &plan) const {
  auto assignment = std::make_unique<Assignment>(trial, plan, cache);
  for (const LayoutRequest &request : boundary.getRequests())
    if (!isa<BlockArgument>(request.value))
      assignment->bring(request);
  assignment->run([&](unsigned argument) { return boundary.argumentLayout(*assignment, argument); },
                  returned);
  return assignment;
}

LayoutCandidates LayoutPlanner::findCandidates() const {
  const std::set<std::string> inputAxes = boundary.getInputAxes();
  SmallVector<std::string> axes;
  for (const std::string &axis : wishes.autoAxes)
    if (!inputAxes.count(axis))
      axes.push_back(axis);
  return LayoutCandidates(boundary.getFunction(), program, mesh, axes, boundary.settledOf(program));
}

void LayoutPlanner::findProblem() {
  problem.given = boundary.cutsOf(program);
  for (const LayoutRequest &request : boundary.getRequests())
    if (auto argument = dyn_cast<BlockArgument>(request.value);
        argument && !boundary.isKnown(argument.getArgNumber()))
      candidates.addRequest(request, problem);
  candidates.addParameters(problem);
  if (wishes.splitAtoms)
    candidates.addBesideRequests(problem);
  for (const std::string &axis : wishes.batchAxes)
    if (!mesh.axes[*mesh.axisIndex(axis)].sequential)
      candidates.addInputs(axis, boundary.getInputs(), problem);
  for (const LayoutRequest &request : boundary.getRequests())
    if (!isa<BlockArgument>(request.value))
      candidates.addBrought(request, problem);
}

LogicalResult LayoutPlanner::search() {
  plans = {problem.given};
  if (wishes.stateIsKnown || problem.cuts.empty())
    return success();
  // Idle ops will be divided later (SplitAtoms.h), so there are two searches. The first one prices
  // a plan as it is. The second one prices a plan as if its idle ops were divided among all devices
  // along the axis. In the second search, a plan that moves few bytes wins.
  std::vector<AxisPlan> found;
  std::map<AxisPlan, std::pair<PlanCost, PlanCost>> prices; // as it is, and divided
  bool isExhausted = false;
  for (bool divided : {false, true}) {
    problem.price = [&](const AxisPlan &trial) {
      auto [entry, isNew] = prices.try_emplace(trial);
      auto &[whole, parts] = entry->second;
      if (isNew) {
        const std::unique_ptr<Assignment> assignment = assign(program, trial);
        whole = parts = costOf(*assignment);
        parts.seconds = assignment->getDividedSeconds();
      }
      return divided ? parts : whole;
    };
    LayoutChoice choice = searchLayouts(problem);
    if (llvm::Error error = choice.verify(problem))
      return boundary.getFunction().emitError(llvm::toString(std::move(error)));
    found.push_back(choice.plan);
    llvm::append_range(found, choice.plans);
    isExhausted |= choice.isExhausted;
    if (wishes.explain)
      boundary.getFunction().emitRemark("layouts: ")
          << choice.priced << " plans of " << problem.cuts.size() << " cuts priced, with "
          << cache.size() << " placements and " << cache.layouts.size() << " layouts"
          << textOf(program, problem, choice.plan);
  }
  if (isExhausted)
    boundary.getFunction().emitRemark("layouts: the search priced ")
        << problem.budget << " plans and took the best of them; there may be a faster one";
  plans = {found.front()};
  for (const AxisPlan &other : found)
    if (!llvm::is_contained(plans, other) && cutComposites(program, other).empty())
      plans.push_back(other);
  return success();
}

SmallVector<DecomposableOpInterface> LayoutPlanner::findCutComposites() const {
  return cutComposites(program, plans.front());
}

SplitPlan LayoutPlanner::split() {
  const SmallVector<unsigned> samples = boundary.samplesOf(program);
  auto assignPlan = [&](const ProgramLoops &trial, const AxisPlan &plan) {
    return assign(trial, plan);
  };
  auto cost = [&](const Assignment &assignment) { return costOf(assignment); };
  auto divide = [&](SplitPlan plan) {
    return splitIdleOps(std::move(plan), wishes.autoAxes, boundary.getRequests(), samples, mesh,
                        assignPlan, cost);
  };
  std::vector<SplitPlan> found;
  std::vector<PlanCost> costs;
  auto add = [&](SplitPlan &&plan) {
    costs.push_back(cost(*assign(plan.program, plan.plan)));
    found.push_back(std::move(plan));
  };
  for (const AxisPlan &plan : plans)
    add(wishes.splitAtoms ? divide({program, plan}) : SplitPlan{program, plan});
  // After idle ops have been divided, other cuts may be better, and may leave other ops idle.
  const bool mayImprove = wishes.splitAtoms && !wishes.stateIsKnown;
  problem.budget /= kSmallerBudget;
  for (unsigned round = 0; round < kImprovements && mayImprove; ++round) {
    // A copy, because add() may move the elements of `found`.
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    const SplitPlan fastest = found[chooseFastest(costs)];
    problem.price = [&](const AxisPlan &trial) { return cost(*assign(fastest.program, trial)); };
    AxisPlan improved = improveLayouts(problem, fastest.plan);
    if (improved == fastest.plan || !cutComposites(fastest.program, improved).empty())
      break;
    AxisPlan whole = improved;
    for (unsigned atom = program.getAtomCount(); atom < fastest.program.getAtomCount(); ++atom)
      whole.erase(atom);
    add({fastest.program, std::move(improved)});
    add(divide({program, std::move(whole)}));
  }
  return std::move(found[chooseLean(costs)]);
}

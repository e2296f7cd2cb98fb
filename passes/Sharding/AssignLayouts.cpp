// Chooses which mesh axes cut which atoms of the program, and writes the
// layouts and reshards that follow.

#include "passes/Sharding/LayoutCandidates.h"
#include "passes/Sharding/Passes.h"
#include "passes/Sharding/SplitAtoms.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/NN/IR/HostFacts.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>
#include <set>

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "passes/Sharding/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::dist;
using nn::ArgAttr;
using nn::ArgKind;
using nn::ResultAttr;
using nn::ResultKind;

using Seeds = std::vector<std::tuple<Value, unsigned, DimStructure>>;

/// How often the cuts are looked at again once idle ops are divided.
static const unsigned kImprovements = 3;

namespace {

struct AssignLayoutsPass : dpc::impl::AssignLayoutsBase<AssignLayoutsPass> {
  using AssignLayoutsBase::AssignLayoutsBase;

  void runOnOperation() override {
    FailureOr<Machine> found = getMachine(getOperation());
    if (failed(found) || failed(readMesh()))
      return signalPassFailure();
    machine = *found;
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(getOperation().getBody());
    SmallVector<StringRef> names;
    SmallVector<int64_t> sizes;
    SmallVector<StringRef> sequential;
    for (const MeshAxis &axis : mesh.axes) {
      names.push_back(axis.name);
      sizes.push_back(axis.size);
      if (axis.sequential)
        sequential.push_back(axis.name);
    }
    builder.create<MeshOp>(getOperation().getLoc(), "mesh", builder.getStrArrayAttr(names), sizes,
                           sequential.empty() ? ArrayAttr() : builder.getStrArrayAttr(sequential));
    // The step decides how state lies; evaluation follows.
    for (StringRef name : {"step", "eval", "infer"})
      if (auto function = getOperation().lookupSymbol<func::FuncOp>(name))
        if (failed(assign(function)))
          return signalPassFailure();
  }

private:
  LogicalResult readMesh() {
    for (const std::string &text : axes) {
      auto [name, size] = StringRef(text).split('=');
      MeshAxis axis;
      axis.name = name.str();
      if (size.getAsInteger(10, axis.size))
        return getOperation().emitError("mesh axis '") << text << "' is not NAME=SIZE";
      axis.sequential = llvm::is_contained(sequentialAxes, axis.name);
      mesh.axes.push_back(axis);
    }
    if (std::optional<std::string> defect = mesh.check())
      return getOperation().emitError("mesh: ") << *defect;
    for (const auto *list : {&batchAxes, &autoAxes, &sequentialAxes})
      for (const std::string &axis : *list)
        if (!mesh.axisIndex(axis))
          return getOperation().emitError("axis '") << axis << "' is not in the mesh";
    return success();
  }

  bool isSequential(StringRef axis) const { return mesh.axes[*mesh.axisIndex(axis)].sequential; }

  /// How state of `layout` is held between steps: not cut over sequential axes,
  /// since every iteration of a loop takes its slice from the same buffer.
  Layout stored(Layout layout) const {
    for (DimLayout &dim : layout.dims)
      for (Segment &segment : dim.segments)
        for (Factor &factor : segment.factors)
          llvm::erase_if(factor.axes, [&](StringRef axis) { return isSequential(axis); });
    return normalize(layout);
  }

  /// What an argument of another function that is the same to the host is found
  /// under.
  static std::string keyOf(ArgAttr arg) {
    return ((isState(arg.getKind()) ? "state " : "input ") + arg.getName()).str();
  }

  /// What is known of an argument from @step, which comes first; null if
  /// nothing is.
  const Layout *findKnown(func::FuncOp function, unsigned index) const {
    ArgAttr arg = nn::getArg(function, index);
    auto known = arg ? knownLayouts.find(keyOf(arg)) : knownLayouts.end();
    return known == knownLayouts.end() ? nullptr : &known->second;
  }

  /// State that the program says the layout of keeps it.
  LogicalResult readGivenLayouts(func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      ArgAttr arg = nn::getArg(function, i);
      auto given = function.getArgAttrOfType<LayoutAttr>(i, DistDialect::kLayoutAttrName);
      if (!arg || !given || !isState(arg.getKind()))
        continue;
      RankedTensorType type = nn::typeOf(function.getArgument(i));
      Layout layout = given.getLayout();
      std::optional<std::string> defect = check(layout, type.getShape(), mesh);
      if (!defect && !layout.partial.empty())
        defect = "state cannot be partial";
      if (!defect &&
          llvm::any_of(shardedAxes(layout), [&](StringRef axis) { return isSequential(axis); }))
        defect = "state cannot be cut over a sequential axis";
      if (defect)
        return function.emitError("layout of '") << arg.getName().str() << "': " << *defect;
      knownLayouts.try_emplace(keyOf(arg), normalize(layout));
    }
    return success();
  }

  LogicalResult assign(func::FuncOp function) {
    if (failed(readGivenLayouts(function)))
      return failure();
    // A composite whose reduced loop is to be cut is replaced by core ops, and
    // the decision is taken anew: at most once an op.
    while (true) {
      Seeds seeds;
      if (failed(collectSeeds(function, seeds)))
        return failure();
      FailureOr<ProgramLoops> program = ProgramLoops::create(function, seeds);
      if (failed(program))
        return failure();
      PlacementCache cache(mesh, machine,
                           splitAtoms ? ArrayRef<std::string>(autoAxes) : ArrayRef<std::string>());
      AxisPlan plan;
      FailureOr<std::vector<LayoutRequest>> wanted = readRequests(function, mesh, batchAxes);
      if (failed(wanted))
        return failure();
      if (settleRequests(function, *program, *wanted))
        continue;
      requests = std::move(*wanted);
      returned = returnedOf(function);
      cutBatch(function, *program, plan);
      cutKnownArguments(function, *program, plan);
      std::vector<AxisPlan> plans = {plan};
      if (!stateIsKnown && failed(search(function, *program, cache, plans)))
        return failure();
      if (SmallVector<DecomposableOpInterface> cut = findCutComposites(*program, plans.front());
          !cut.empty()) {
        decompose(cut);
        continue;
      }
      const SplitPlan best = split(function, *program, cache, plans);
      std::unique_ptr<Assignment> result = assignAll(function, best.program, best.plan, cache);
      writeCost(function, *result);
      write(function, best.program, *result);
      dropRequests(function);
      stateIsKnown = true;
      return success();
    }
  }

  /// Assigns the layouts of all values under `plan`.
  std::unique_ptr<Assignment> assignAll(func::FuncOp function, const ProgramLoops &program,
                                        const AxisPlan &plan, PlacementCache &cache) {
    auto assignment = std::make_unique<Assignment>(program, plan, cache);
    for (const LayoutRequest &request : requests)
      if (!isa<BlockArgument>(request.value))
        assignment->bring(request);
    assignment->run(argumentLayouts(function, *assignment), returned);
    return assignment;
  }

  /// What `function` returns, and how that has to lie.
  static std::vector<Assignment::Returned> returnedOf(func::FuncOp function) {
    llvm::StringMap<Value> carriers;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (ArgAttr arg = nn::getArg(function, i); arg && isState(arg.getKind()))
        carriers[arg.getName()] = function.getArgument(i);
    std::vector<Assignment::Returned> returned;
    for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
      ResultAttr attr = nn::getResult(function, operand.getOperandNumber());
      const bool isState = attr && attr.getKind() == ResultKind::state;
      returned.push_back({operand.get(), isState ? carriers.lookup(attr.getName()) : Value(),
                          attr && attr.getKind() == ResultKind::output});
    }
    return returned;
  }

  /// Requests for state that no atom can answer, all being smaller than an axis, are
  /// layouts as they stand there: the loop is that of the whole dimension. Returns
  /// whether there were any that were not known.
  bool settleRequests(func::FuncOp function, const ProgramLoops &program,
                      ArrayRef<LayoutRequest> wanted) {
    bool isNew = false;
    for (const LayoutRequest &request : wanted) {
      auto argument = dyn_cast<BlockArgument>(request.value);
      ArgAttr arg = argument ? nn::getArg(function, argument.getArgNumber()) : ArgAttr();
      if (!arg || !isState(arg.getKind()))
        continue;
      auto isTooLarge = [&](unsigned dim, StringRef axis) {
        return llvm::all_of(program.getDim(request.value, dim), [&](const auto &segment) {
          return llvm::all_of(
              segment, [&](unsigned atom) { return program.getSize(atom) < mesh.axisSize(axis); });
        });
      };
      Layout layout = Layout::replicated(nn::typeOf(request.value).getShape());
      bool isPlain = false;
      for (auto [d, axes] : llvm::enumerate(request.dims)) {
        layout.dims[d].segments[0].factors[0].axes = axes;
        isPlain |= llvm::any_of(axes, [&, d = d](StringRef axis) { return isTooLarge(d, axis); });
      }
      if (isPlain)
        isNew |= knownLayouts.try_emplace(keyOf(arg), normalize(layout)).second;
    }
    return isNew;
  }

  /// What was asked for of an argument whose layout is not known; null if nothing.
  const LayoutRequest *findRequest(Value argument) const {
    auto found = llvm::find_if(
        requests, [&](const LayoutRequest &request) { return request.value == argument; });
    return found == requests.end() ? nullptr : &*found;
  }

  /// Axes by which inputs are delivered to devices: as with the batch, nobody asks
  /// for parameters to be cut over them.
  std::set<std::string> getInputAxes(func::FuncOp function) const {
    std::set<std::string> axes;
    for (const LayoutRequest &request : requests)
      if (auto argument = dyn_cast<BlockArgument>(request.value))
        if (!isState(nn::getArg(function, argument.getArgNumber()).getKind()))
          for (const AxisNames &dim : request.dims)
            axes.insert(dim.begin(), dim.end());
    return axes;
  }

  /// Leaves on `function` what the model expects of its layouts.
  void writeCost(func::FuncOp function, const Assignment &assignment) {
    const ReshardCost &moving = assignment.getTraffic();
    auto nanoseconds = [](double seconds) { return std::llround(1e9 * seconds); };
    function->setAttr(DistDialect::kCostAttrName,
                      CostAttr::get(&getContext(),
                                    nanoseconds(assignment.getSeconds() - moving.seconds),
                                    nanoseconds(moving.seconds), std::llround(moving.bytes)));
  }

  /// What may be cut in addition to `given`.
  LayoutProblem problemOf(func::FuncOp function, LayoutCandidates &candidates,
                          const AxisPlan &given) {
    LayoutProblem problem;
    problem.given = given;
    for (const LayoutRequest &request : requests)
      if (auto argument = dyn_cast<BlockArgument>(request.value);
          argument && !findKnown(function, argument.getArgNumber()))
        candidates.addRequest(request, problem);
    candidates.addParameters(problem);
    if (splitAtoms)
      candidates.addBesideRequests(problem);
    for (const std::string &axis : batchAxes)
      if (!isSequential(axis))
        candidates.addInputs(axis, inputsOf(function), problem);
    for (const LayoutRequest &request : requests)
      if (!isa<BlockArgument>(request.value))
        candidates.addBrought(request, problem);
    return problem;
  }

  /// Looks for plans that add to the one in `plans`, and puts in its place what it
  /// found, the cheapest first.
  LogicalResult search(func::FuncOp function, const ProgramLoops &program, PlacementCache &cache,
                       std::vector<AxisPlan> &plans) {
    LayoutCandidates candidates = candidatesOf(function, program);
    LayoutProblem problem = problemOf(function, candidates, plans.front());
    if (problem.cuts.empty())
      return success();
    // What is idle will be divided: a plan is good if it is cheap as it is, or if
    // little needs to be moved once all compute as much.
    std::vector<AxisPlan> found;
    for (bool divided : {false, true}) {
      problem.price = [&](const AxisPlan &trial) {
        const std::unique_ptr<Assignment> assignment = assignAll(function, program, trial, cache);
        PlanCost cost = costOf(*assignment, candidates);
        if (divided)
          cost.seconds = assignment->getDividedSeconds();
        return cost;
      };
      LayoutChoice choice = searchLayouts(problem);
      if (llvm::Error error = choice.verify(problem))
        return function.emitError(llvm::toString(std::move(error)));
      found.push_back(choice.plan);
      llvm::append_range(found, choice.plans);
      if (explain)
        function.emitRemark("layouts: ")
            << choice.priced << " plans priced" << textOf(program, problem, choice.plan);
    }
    plans = {found.front()};
    for (const AxisPlan &other : found)
      if (!llvm::is_contained(plans, other) && findCutComposites(program, other).empty())
        plans.push_back(other);
    return success();
  }

  /// What a plan cuts that was not given.
  static std::string textOf(const ProgramLoops &program, const LayoutProblem &problem,
                            const AxisPlan &plan) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (const auto &[atom, axes] : plan)
      if (!problem.given.count(atom))
        stream << ", " << program.getSize(atom) << " over " << llvm::join(axes, "+");
    return text;
  }

  /// The best of `plans` once what they leave idle is divided, too, and the other cuts
  /// have been looked at once more.
  SplitPlan split(func::FuncOp function, const ProgramLoops &program, PlacementCache &cache,
                  ArrayRef<AxisPlan> plans) {
    LayoutCandidates candidates = candidatesOf(function, program);
    LayoutProblem problem = problemOf(function, candidates, {});
    auto assign = [&](const ProgramLoops &trial, const AxisPlan &plan) {
      return assignAll(function, trial, plan, cache);
    };
    auto cost = [&](const Assignment &assignment) { return costOf(assignment, candidates); };
    const SmallVector<unsigned> samples = samplesOf(function, program);
    std::vector<SplitPlan> found;
    std::vector<PlanCost> costs;
    auto add = [&](SplitPlan &&plan) {
      costs.push_back(cost(*assign(plan.program, plan.plan)));
      found.push_back(std::move(plan));
    };
    for (const AxisPlan &plan : plans)
      add(splitAtoms
              ? splitIdleOps({program, plan}, autoAxes, requests, samples, mesh, assign, cost)
              : SplitPlan{program, plan});
    // With idle ops divided other cuts may pay, and leave other ops idle.
    for (unsigned round = 0; round < kImprovements && splitAtoms && !stateIsKnown; ++round) {
      const SplitPlan fastest = found[chooseFastest(costs)];
      problem.price = [&](const AxisPlan &trial) { return cost(*assign(fastest.program, trial)); };
      AxisPlan improved = improveLayouts(problem, fastest.plan);
      if (improved == fastest.plan || !findCutComposites(fastest.program, improved).empty())
        break;
      AxisPlan whole = improved;
      for (unsigned atom = program.getAtomCount(); atom < fastest.program.getAtomCount(); ++atom)
        whole.erase(atom);
      add({fastest.program, std::move(improved)});
      add(splitIdleOps({program, std::move(whole)}, autoAxes, requests, samples, mesh, assign,
                       cost));
    }
    return std::move(found[chooseLean(costs)]);
  }

  static PlanCost costOf(const Assignment &assignment, const LayoutCandidates &candidates) {
    return {candidates.excessBytes(assignment), assignment.getSeconds(),
            assignment.getTraffic().bytes};
  }

  /// What may be cut: not again atoms that count samples, or those of a tensor whose
  /// layout is known.
  LayoutCandidates candidatesOf(func::FuncOp function, const ProgramLoops &program) {
    DenseSet<unsigned> settled;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      Value value = function.getArgument(i);
      const int64_t dim = batchDim(function, i);
      for (int64_t d = 0; d < nn::typeOf(value).getRank(); ++d)
        if (d == dim || findKnown(function, i))
          for (const auto &segment : program.getDim(value, d))
            settled.insert(segment.begin(), segment.end());
    }
    const std::set<std::string> inputAxes = getInputAxes(function);
    SmallVector<std::string> axes;
    for (const std::string &axis : autoAxes)
      if (!inputAxes.count(axis))
        axes.push_back(axis);
    return LayoutCandidates(function, program, mesh, axes, std::move(settled));
  }

  /// The atoms that count samples.
  static SmallVector<unsigned> samplesOf(func::FuncOp function, const ProgramLoops &program) {
    SmallVector<unsigned> samples;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (const int64_t dim = batchDim(function, i); dim >= 0)
        for (const auto &segment : program.getDim(function.getArgument(i), dim))
          samples.append(segment.begin(), segment.end());
    return samples;
  }

  /// Inputs and labels without a batch dimension.
  SmallVector<Value> inputsOf(func::FuncOp function) {
    SmallVector<Value> inputs;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (ArgAttr arg = nn::getArg(function, i);
          arg && batchDim(function, i) < 0 &&
          (arg.getKind() == ArgKind::input || arg.getKind() == ArgKind::label))
        inputs.push_back(function.getArgument(i));
    return inputs;
  }

  /// The batch dimension of an input or label, or -1.
  static int64_t batchDim(func::FuncOp function, unsigned index) {
    ArgAttr arg = nn::getArg(function, index);
    if (!arg || (arg.getKind() != ArgKind::input && arg.getKind() != ArgKind::label))
      return -1;
    return arg.getBatch();
  }

  /// Structures to start from. On the batch, sequential axes get a factor of
  /// exactly their size, since microbatches are equal; state has the factors
  /// that were cut before.
  LogicalResult collectSeeds(func::FuncOp function, Seeds &seeds) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      int64_t dim = batchDim(function, i);
      if (const Layout *known = findKnown(function, i))
        for (auto [d, layout] : llvm::enumerate(known->dims))
          if (int64_t(d) != dim)
            seeds.push_back({function.getArgument(i), unsigned(d), structureOf(layout)});
      if (dim < 0)
        continue;
      Value value = function.getArgument(i);
      int64_t rest = nn::typeOf(value).getDimSize(dim);
      DimStructure structure;
      structure.segments.emplace_back();
      for (const std::string &name : batchAxes) {
        const MeshAxis &axis = mesh.axes[*mesh.axisIndex(name)];
        if (!axis.sequential)
          continue;
        if (rest % axis.size)
          return function.emitError("the batch of ")
                 << rest << " does not divide into " << axis.size << " microbatches";
        structure.segments[0].push_back(axis.size);
        rest /= axis.size;
      }
      structure.segments[0].push_back(rest);
      seeds.push_back({value, unsigned(dim), structure});
    }
    return success();
  }

  /// Sequential axes cut their own factor, the others the first factor after
  /// those.
  void cutBatch(func::FuncOp function, const ProgramLoops &program, AxisPlan &plan) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      int64_t dim = batchDim(function, i);
      if (dim < 0 || nn::typeOf(function.getArgument(i)).getDimSize(dim) <= 1)
        continue;
      const AtomDim &segments = program.getDim(function.getArgument(i), dim);
      size_t next = 0;
      for (bool sequential : {true, false})
        for (const std::string &name : batchAxes) {
          const MeshAxis &axis = mesh.axes[*mesh.axisIndex(name)];
          if (axis.sequential != sequential || axis.size == 1)
            continue;
          // Where an op takes the batch apart there is no factor of one index
          // an iteration, and no loop.
          auto fits = [&](const auto &segment) {
            return next < segment.size() &&
                   (!sequential || program.getSize(segment[next]) == axis.size);
          };
          if (sequential && (segments.size() != 1 || !fits(segments[0])))
            continue;
          for (const auto &segment : segments) {
            if (!fits(segment))
              continue;
            AxisNames &cuts = plan[segment[next]];
            if (!llvm::is_contained(cuts, name))
              cuts.push_back(name);
          }
          if (sequential)
            ++next;
        }
    }
  }

  /// Repeats for this function's arguments what was decided for @step. The
  /// batch is cut alike everywhere.
  void cutKnownArguments(func::FuncOp function, const ProgramLoops &program, AxisPlan &plan) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (const Layout *known = findKnown(function, i))
        for (unsigned d = 0; d < known->dims.size(); ++d)
          if (int64_t(d) != batchDim(function, i))
            cutKnownDim(program, program.getDim(function.getArgument(i), d), known->dims[d], plan);
  }

  /// Cuts the atoms of one dimension as `known` cuts it. `known` was a seed, so
  /// the refinement has made each of its factors a product of atoms: from the
  /// minor end on, the next atoms whose sizes multiply to the factor's are the
  /// factor, and its axes cut the major one of them. The refinement may also
  /// have taken a segment apart, (12)(64) into (4)(64) + (8)(64); it does so
  /// along the major factor only, so all pieces end in the same minor factors.
  void cutKnownDim(const ProgramLoops &program, const AtomDim &atoms, const DimLayout &known,
                   AxisPlan &plan) {
    size_t next = 0;
    for (const Segment &segment : known.segments)
      for (int64_t left = segment.extent(); left > 0 && next < atoms.size();) {
        ArrayRef<unsigned> own = atoms[next++];
        int64_t extent = 1;
        for (unsigned atom : own)
          extent *= program.getSize(atom);
        left -= extent;
        for (const Factor &factor : llvm::reverse(segment.factors)) {
          if (own.empty())
            break;
          unsigned first = own.back();
          for (int64_t product = 1; !own.empty() && product < factor.size; own = own.drop_back()) {
            first = own.back();
            product *= program.getSize(first);
          }
          if (factor.axes.empty())
            continue;
          AxisNames &cuts = plan[first];
          llvm::erase_if(cuts, [&](StringRef axis) { return !isSequential(axis); });
          llvm::append_range(cuts, factor.axes);
        }
      }
  }

  /// Composites of which the plan cuts a loop that they need uncut.
  static SmallVector<DecomposableOpInterface> findCutComposites(const ProgramLoops &program,
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

  static void decompose(ArrayRef<DecomposableOpInterface> composites) {
    for (DecomposableOpInterface op : composites) {
      OpBuilder builder(op);
      auto parts = op.decompose(builder);
      if (Attribute request = op->getAttr(DistDialect::kRequestAttrName))
        if (Operation *last = parts[0].getDefiningOp(); last && last->getResult(0) == parts[0])
          last->setAttr(DistDialect::kRequestAttrName, request);
      op->replaceAllUsesWith(parts);
      op->erase();
    }
  }

  Assignment::Layouts argumentLayouts(func::FuncOp function, const Assignment &assignment) {
    Assignment::Layouts layouts;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      Value value = function.getArgument(i);
      ArgAttr arg = nn::getArg(function, i);
      Layout layout = assignment.getNatural(value);
      if (const Layout *known = findKnown(function, i))
        layout = *known;
      else if (const LayoutRequest *request = findRequest(value))
        layout = assignment.getRequested(*request);
      else if (arg && isState(arg.getKind()))
        layout = stored(layout);
      layouts.push_back({value, layout});
    }
    return layouts;
  }

  /// The dimension of `value` that the loop over the batch runs along,
  /// outermost in it, or -1. A batch of 1 has no loop: there the first
  /// dimension counts samples, as it does for inputs.
  int64_t batchDimOf(func::FuncOp function, const ProgramLoops &program, Value value) {
    RankedTensorType type = nn::typeOf(value);
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      int64_t dim = batchDim(function, i);
      if (dim < 0)
        continue;
      Value input = function.getArgument(i);
      if (nn::typeOf(input).getDimSize(dim) == 1)
        return type.getRank() > 0 && type.getDimSize(0) == 1 ? 0 : -1;
      const AtomDim &batch = program.getDim(input, dim);
      if (batch.size() != 1)
        continue;
      for (int64_t d = 0; d < type.getRank(); ++d) {
        const AtomDim &own = program.getDim(value, d);
        if (own.size() == 1 && own[0].size() >= batch[0].size() &&
            ArrayRef(own[0]).take_front(batch[0].size()) == ArrayRef(batch[0]))
          return d;
      }
    }
    return -1;
  }

  /// Writes the decision into the IR and inserts the reshards.
  void write(func::FuncOp function, const ProgramLoops &program, const Assignment &assignment) {
    MLIRContext *context = &getContext();
    auto attrOf = [&](const Layout &layout) -> Attribute {
      return LayoutAttr::get(context, layout);
    };
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      const Layout &layout = assignment.getLayout(function.getArgument(i));
      function.setArgAttr(i, DistDialect::kLayoutAttrName, attrOf(layout));
      ArgAttr arg = nn::getArg(function, i);
      if (arg)
        knownLayouts.try_emplace(keyOf(arg), isState(arg.getKind()) ? stored(layout) : layout);
    }
    // Values that are brought to another layout where they are made, by what was made.
    llvm::DenseMap<Value, Value> brought;
    // One reshard a (value, layout), made where the first user is.
    std::map<std::pair<void *, std::string>, Value> made;
    auto reshard = [&](OpOperand &operand, const Layout &to) {
      Value value = operand.get();
      const Layout &from = assignment.getLayout(value);
      if (Value other = brought.lookup(value)) {
        value = other;
        operand.set(other);
      }
      if (sameLayout(from, to, mesh))
        return;
      Value &result = made[{value.getAsOpaquePointer(), toString(normalize(to))}];
      if (!result) {
        OpBuilder builder(operand.getOwner());
        result =
            builder.create<ReshardOp>(operand.getOwner()->getLoc(), value.getType(), value,
                                      LayoutAttr::get(context, from), LayoutAttr::get(context, to));
        if (explain)
          operand.getOwner()->emitRemark("reshards ")
              << value.getType() << " from " << toString(from) << " to " << toString(to);
      }
      operand.set(result);
    };
    for (auto [index, op] : llvm::enumerate(program.getOps())) {
      const OpPlacement &placement = assignment.getPlacement(index);
      for (OpOperand &operand : op.op->getOpOperands())
        reshard(operand, placement.operands[operand.getOperandNumber()]);
      SmallVector<Attribute> operands, results;
      for (const Layout &layout : placement.operands)
        operands.push_back(attrOf(layout));
      for (const Layout &layout : placement.results)
        results.push_back(attrOf(layout));
      Builder builder(context);
      op.op->setAttr(DistDialect::kOperandsAttrName, builder.getArrayAttr(operands));
      op.op->setAttr(DistDialect::kResultsAttrName, builder.getArrayAttr(results));
      for (auto [result, from] : llvm::zip_equal(op.op->getResults(), placement.results)) {
        const Layout &to = assignment.getLayout(result);
        if (sameLayout(from, to, mesh))
          continue;
        OpBuilder after(op.op->getContext());
        after.setInsertionPointAfter(op.op);
        brought[result] =
            after.create<ReshardOp>(op.op->getLoc(), result.getType(), result,
                                    LayoutAttr::get(context, from), LayoutAttr::get(context, to));
        if (explain)
          op.op->emitRemark("reshards ") << result.getType() << " from " << toString(from) << " to "
                                         << toString(to) << ", as asked for";
      }
    }
    Operation *terminator = function.front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands()) {
      ResultAttr attr = nn::getResult(function, operand.getOperandNumber());
      Layout to = Layout::replicated(nn::typeOf(operand.get()).getShape());
      if (attr && attr.getKind() == ResultKind::state) {
        to = knownLayouts.find(("state " + attr.getName()).str())->second;
      } else if (attr && attr.getKind() == ResultKind::output) {
        // The host puts the pieces of an output together.
        to = assignment.getLayout(operand.get());
        to.partial.clear();
        to = stored(to);
        nn::setBatchDim(function, operand.getOperandNumber(),
                        batchDimOf(function, program, operand.get()));
      }
      reshard(operand, to);
      function.setResultAttr(operand.getOperandNumber(), DistDialect::kLayoutAttrName, attrOf(to));
    }
  }

  MeshShape mesh;
  Machine machine;
  bool stateIsKnown = false;
  /// Of the function that is looked at.
  std::vector<LayoutRequest> requests;
  std::vector<Assignment::Returned> returned;
  /// By keyOf: what was given, or decided for @step.
  std::map<std::string, Layout> knownLayouts;
};

} // namespace

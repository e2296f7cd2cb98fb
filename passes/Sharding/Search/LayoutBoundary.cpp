// Finds the layouts that are decided before the search: the layouts of samples, as the host
// delivers them; layouts that the program gives; layouts that were chosen for an earlier
// function; and requested layouts.

#include "passes/Sharding/Search/LayoutBoundary.h"

#include "dialects/NN/IR/NNDialect.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;
using nn::ArgAttr;
using nn::ArgKind;
using nn::ResultAttr;
using nn::ResultKind;

//===-- Known layouts -----------------------------------------------------===//

/// Returns the key of an argument in KnownLayouts. Arguments of different functions have the
/// same key if the host treats them as one tensor, for example a parameter in @step and in
/// @eval.
static std::string keyOf(ArgAttr arg) {
  return ((nn::isState(arg.getKind()) ? "state " : "input ") + arg.getName()).str();
}

const Layout *KnownLayouts::find(ArgAttr arg) const {
  auto found = arg ? layouts.find(keyOf(arg)) : layouts.end();
  return found == layouts.end() ? nullptr : &found->second;
}

const Layout *KnownLayouts::findState(StringRef name) const {
  auto found = layouts.find(("state " + name).str());
  return found == layouts.end() ? nullptr : &found->second;
}

bool KnownLayouts::add(ArgAttr arg, const Layout &layout) {
  return layouts.try_emplace(keyOf(arg), nn::isState(arg.getKind()) ? stored(layout) : layout)
      .second;
}

LogicalResult KnownLayouts::addGiven(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    ArgAttr arg = nn::getArg(function, i);
    auto given = function.getArgAttrOfType<LayoutAttr>(i, DistDialect::kLayoutAttrName);
    if (!arg || !given || !nn::isState(arg.getKind()))
      continue;
    RankedTensorType type = nn::typeOf(function.getArgument(i));
    const Layout &layout = given.getLayout();
    std::optional<std::string> defect = check(layout, type.getShape(), mesh);
    if (!defect && !layout.partial.empty())
      defect = "state cannot be partial";
    if (!defect && llvm::any_of(shardedAxes(layout), [&](StringRef axis) {
          return mesh.axes[*mesh.axisIndex(axis)].sequential;
        }))
      defect = "state cannot be cut over a sequential axis";
    if (defect)
      return function.emitError("layout of '") << arg.getName().str() << "': " << *defect;
    layouts.try_emplace(keyOf(arg), normalize(layout));
  }
  return success();
}

Layout KnownLayouts::stored(Layout layout) const {
  for (DimLayout &dim : layout.dims)
    for (Segment &segment : dim.segments)
      for (Factor &factor : segment.factors)
        llvm::erase_if(factor.axes,
                       [&](StringRef axis) { return mesh.axes[*mesh.axisIndex(axis)].sequential; });
  return normalize(layout);
}

//===-- Requests ----------------------------------------------------------===//

FailureOr<bool> LayoutBoundary::readRequests(const ProgramLoops &program) {
  FailureOr<std::vector<LayoutRequest>> wanted = dpc::readRequests(function, mesh, batchAxes);
  if (failed(wanted))
    return failure();
  requests = std::move(*wanted);
  bool isNew = false;
  for (const LayoutRequest &request : requests)
    isNew |= settle(request, program);
  return isNew;
}

bool LayoutBoundary::settle(const LayoutRequest &request, const ProgramLoops &program) {
  auto argument = dyn_cast<BlockArgument>(request.value);
  ArgAttr arg = argument ? nn::getArg(function, argument.getArgNumber()) : ArgAttr();
  if (!arg || !nn::isState(arg.getKind()))
    return false;
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
  return isPlain && known.add(arg, normalize(layout));
}

void LayoutBoundary::keepWhole(ProgramLoops &program) const {
  for (const LayoutRequest &request : requests) {
    auto argument = dyn_cast<BlockArgument>(request.value);
    if (!argument || !nn::isState(nn::getArg(function, argument.getArgNumber()).getKind()))
      continue;
    for (const MeshAxis &axis : mesh.axes)
      if (!axis.sequential && axis.size > 1 &&
          llvm::none_of(request.dims,
                        [&](const AxisNames &dim) { return llvm::is_contained(dim, axis.name); }))
        program.keepWhole(argument, axis.name);
  }
  for (const MeshAxis &axis : mesh.axes)
    if (axis.sequential && axis.size > 1)
      program.keepUpdatesWhole(axis.name);
}

const LayoutRequest *LayoutBoundary::findRequest(Value argument) const {
  auto found = llvm::find_if(
      requests, [&](const LayoutRequest &request) { return request.value == argument; });
  return found == requests.end() ? nullptr : &*found;
}

std::set<std::string> LayoutBoundary::getInputAxes() const {
  std::set<std::string> axes;
  for (const LayoutRequest &request : requests)
    if (auto argument = dyn_cast<BlockArgument>(request.value))
      if (!nn::isState(nn::getArg(function, argument.getArgNumber()).getKind()))
        for (const AxisNames &dim : request.dims)
          axes.insert(dim.begin(), dim.end());
  return axes;
}

//===-- Arguments ---------------------------------------------------------===//

const Layout *LayoutBoundary::findKnown(unsigned argument) const {
  return known.find(nn::getArg(function, argument));
}

bool LayoutBoundary::isKnown(unsigned argument) const { return findKnown(argument) != nullptr; }

int64_t LayoutBoundary::batchDim(unsigned argument) const {
  ArgAttr arg = nn::getArg(function, argument);
  if (!arg || (arg.getKind() != ArgKind::input && arg.getKind() != ArgKind::label))
    return -1;
  return arg.getBatch();
}

SmallVector<unsigned> LayoutBoundary::samplesOf(const ProgramLoops &program) const {
  SmallVector<unsigned> samples;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (const int64_t dim = batchDim(i); dim >= 0)
      for (const auto &segment : program.getDim(function.getArgument(i), dim))
        samples.append(segment.begin(), segment.end());
  return samples;
}

DenseSet<unsigned> LayoutBoundary::settledOf(const ProgramLoops &program) const {
  DenseSet<unsigned> settled;
  for (unsigned atom : samplesOf(program))
    settled.insert(atom);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    Value value = function.getArgument(i);
    if (findKnown(i))
      for (int64_t d = 0; d < nn::typeOf(value).getRank(); ++d)
        for (const auto &segment : program.getDim(value, d))
          settled.insert(segment.begin(), segment.end());
  }
  return settled;
}

SmallVector<Value> LayoutBoundary::getInputs() const {
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (ArgAttr arg = nn::getArg(function, i);
        arg && batchDim(i) < 0 &&
        (arg.getKind() == ArgKind::input || arg.getKind() == ArgKind::label))
      inputs.push_back(function.getArgument(i));
  return inputs;
}

LogicalResult LayoutBoundary::collectSeeds(StructureSeeds &seeds) const {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    int64_t dim = batchDim(i);
    if (const Layout *layout = findKnown(i))
      for (auto [d, each] : llvm::enumerate(layout->dims))
        if (int64_t(d) != dim)
          seeds.push_back({function.getArgument(i), unsigned(d), structureOf(each)});
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

AxisPlan LayoutBoundary::cutsOf(const ProgramLoops &program) const {
  AxisPlan plan;
  cutBatch(program, plan);
  // Known layouts do not count for the batch dimension, because cutBatch cuts it in the same
  // way in all functions.
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (const Layout *layout = findKnown(i))
      for (unsigned d = 0; d < layout->dims.size(); ++d)
        if (int64_t(d) != batchDim(i))
          cutKnownDim(program, program.getDim(function.getArgument(i), d), layout->dims[d], plan);
  return plan;
}

/// Adds the cuts of the batch. Each sequential axis cuts a factor of its own: the first such axis
/// cuts the outermost factor, the second one the next factor, and so on. All other axes of the
/// batch cut the factor after these.
void LayoutBoundary::cutBatch(const ProgramLoops &program, AxisPlan &plan) const {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    int64_t dim = batchDim(i);
    if (dim < 0 || nn::typeOf(function.getArgument(i)).getDimSize(dim) <= 1)
      continue;
    const AtomDim &segments = program.getDim(function.getArgument(i), dim);
    size_t next = 0;
    for (bool sequential : {true, false})
      for (const std::string &name : batchAxes) {
        const MeshAxis &axis = mesh.axes[*mesh.axisIndex(name)];
        if (axis.sequential != sequential || axis.size == 1)
          continue;
        // If an op splits the batch into segments, no factor has exactly one index per
        // iteration. The sequential axis then cuts nothing, and there is no loop.
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

/// Adds the cuts that `layout` has in one dimension. The layout was a seed of the refinement,
/// so each of its factors is now a product of atoms. The function goes through the factors from
/// the minor end on. For each factor it takes the next atoms until their sizes multiply to the
/// size of the factor, and the axes of the factor cut the outermost of these atoms. The
/// refinement may also have split a segment, for example (12)(64) into (4)(64) + (8)(64). It
/// splits only the outermost factor, so all parts end in the same minor factors.
void LayoutBoundary::cutKnownDim(const ProgramLoops &program, const AtomDim &atoms,
                                 const DimLayout &layout, AxisPlan &plan) const {
  size_t next = 0;
  for (const Segment &segment : layout.segments)
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

Layout LayoutBoundary::argumentLayout(const Assignment &assignment, unsigned argument) const {
  if (const Layout *given = findKnown(argument))
    return *given;
  Value value = function.getArgument(argument);
  const LayoutRequest *request = findRequest(value);
  const Layout layout = request ? assignment.getRequested(*request) : assignment.getNatural(value);
  ArgAttr arg = nn::getArg(function, argument);
  return arg && nn::isState(arg.getKind()) ? known.stored(layout) : layout;
}

//===-- Results -----------------------------------------------------------===//

std::vector<Assignment::Returned> LayoutBoundary::getReturned() const {
  llvm::StringMap<Value> carriers;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (ArgAttr arg = nn::getArg(function, i); arg && nn::isState(arg.getKind()))
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

LogicalResult LayoutBoundary::checkReturned() const {
  for (auto [number, returned] : llvm::enumerate(getReturned())) {
    ResultAttr attr = nn::getResult(function, number);
    if (!attr || attr.getKind() != ResultKind::state)
      continue;
    const Type type = returned.value.getType();
    const Layout *layout = known.findState(attr.getName());
    const std::string name = attr.getName().str();
    if (!returned.carrier && !layout)
      return function.emitError("result ")
             << number << " is the state '" << name << "', which no argument is";
    if (returned.carrier && returned.carrier.getType() != type)
      return function.emitError("state '") << name << "' is " << returned.carrier.getType()
                                           << " as an argument and " << type << " as a result";
    if (std::optional<std::string> defect =
            layout ? check(*layout, nn::typeOf(returned.value).getShape(), mesh) : std::nullopt)
      return function.emitError("state '") << name << "' as a result: " << *defect;
  }
  return success();
}

int64_t LayoutBoundary::batchDimOf(const ProgramLoops &program, Value value) const {
  RankedTensorType type = nn::typeOf(value);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    int64_t dim = batchDim(i);
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

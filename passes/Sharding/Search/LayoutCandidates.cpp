// Finds the cuts of atoms from which the search for layouts may choose.

#include "passes/Sharding/Search/LayoutCandidates.h"

#include "passes/Sharding/Atoms/AtomClasses.h"

#include "dialects/NN/IR/Conversions.h"
#include "dialects/NN/IR/NNDialect.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

/// A device may hold parameters beyond its share without a penalty, up to this fraction of the
/// bytes of all parameters. Small tensors such as biases, scales and tables of positions may
/// therefore stay replicated, because sharding them is not worth the communication.
static const double kTolerance = 0.05;

/// Returns the values that ops with a reduction loop read. If an op reads a conversion, the set
/// has the source of the conversion. In effect the set has the parameters that contractions and
/// gathers read, but not parameters that are only added to a value or multiplied with it.
static DenseSet<Value> findReduced(const ProgramLoops &program) {
  DenseSet<Value> reduced;
  for (const OpLoops &op : program.getOps())
    if (llvm::any_of(op.rule.loops,
                     [](const ShardingRule::Loop &loop) { return loop.kind == LoopKind::sum; }))
      for (Value operand : op.op->getOperands())
        reduced.insert(nn::getSource(operand));
  return reduced;
}

/// The atoms of all dimensions of `value`, each once.
static SmallVector<unsigned> atomsOf(const ProgramLoops &program, Value value) {
  SmallVector<unsigned> atoms;
  for (unsigned d = 0; d < nn::typeOf(value).getRank(); ++d)
    for (const auto &segment : program.getDim(value, d))
      for (unsigned atom : segment)
        if (!llvm::is_contained(atoms, atom))
          atoms.push_back(atom);
  return atoms;
}

LayoutCandidates::LayoutCandidates(func::FuncOp function, const ProgramLoops &program,
                                   const MeshShape &mesh, ArrayRef<std::string> axes,
                                   DenseSet<unsigned> settled)
    : program(program), mesh(mesh), axes(axes), settled(std::move(settled)),
      classes(findAtomClasses(program)), classOf(program.getAtomCount()),
      reduced(findReduced(program)) {
  for (auto [number, atoms] : llvm::enumerate(classes))
    for (unsigned atom : atoms)
      classOf[atom] = number;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (nn::ArgAttr arg = nn::getArg(function, i); arg && arg.getKind() == nn::ArgKind::parameter)
      parameters.push_back(function.getArgument(i));
  for (Value parameter : parameters)
    allBytes += static_cast<double>(tensorBytes(parameter.getType()));
}

bool LayoutCandidates::isFree(unsigned atom, StringRef axis, const LayoutProblem &problem) const {
  return program.getSize(atom) >= mesh.axisSize(axis) && !problem.given.count(atom);
}

bool LayoutCandidates::canCut(unsigned atom, StringRef axis, const LayoutProblem &problem) const {
  return !settled.contains(atom) && isFree(atom, axis, problem);
}

/// Adds `atom` to the requested cut over `axis` for the class of `atom`, and returns the index of
/// this cut in `problem.cuts`. The cut has only those atoms of the class that requests name.
unsigned LayoutCandidates::requestedCutOf(unsigned atom, StringRef axis, LayoutProblem &problem) {
  auto [cut, isNew] = requestedCuts.try_emplace({classOf[atom], axis.str()}, problem.cuts.size());
  if (isNew)
    problem.cuts.push_back({axis.str(), {}, program.getSize(atom) % mesh.axisSize(axis) == 0});
  if (requested.try_emplace({atom, axis.str()}, cut->second).second)
    problem.cuts[cut->second].atoms.push_back(atom);
  return cut->second;
}

void LayoutCandidates::addRequest(const LayoutRequest &request, LayoutProblem &problem) {
  if (llvm::is_contained(parameters, request.value)) {
    llvm::erase(parameters, request.value);
    asked.push_back(request.value);
  }
  const auto bytes = static_cast<double>(tensorBytes(request.value.getType()));
  for (auto [d, axes] : llvm::enumerate(request.dims))
    for (const std::string &axis : axes)
      for (const auto &segment : program.getDim(request.value, d)) {
        LayoutProblem::Choice choice{{}, bytes};
        for (unsigned atom : segment)
          if (mesh.axisSize(axis) > 1 && isFree(atom, axis, problem))
            if (unsigned cut = requestedCutOf(atom, axis, problem);
                !llvm::is_contained(choice.cuts, cut))
              choice.cuts.push_back(cut);
        if (!choice.cuts.empty() && llvm::none_of(problem.required, [&](const auto &other) {
              return other.cuts == choice.cuts;
            }))
          problem.required.push_back(std::move(choice));
      }
}

/// Returns the index, in `problem.cuts`, of the cut over `axis` that has `atom`. If a request names
/// `atom`, this is the requested cut. Otherwise the cut has all atoms of the class of `atom` that
/// the axis can shard and that no request names.
unsigned LayoutCandidates::cutOf(unsigned atom, StringRef axis, LayoutProblem &problem) {
  if (auto known = requested.find({atom, axis.str()}); known != requested.end())
    return known->second;
  auto [cut, isNew] = cuts.try_emplace({classOf[atom], axis.str()}, problem.cuts.size());
  if (isNew) {
    problem.cuts.push_back({axis.str(), {}, program.getSize(atom) % mesh.axisSize(axis) == 0});
    for (unsigned each : classes[classOf[atom]])
      if (canCut(each, axis, problem) && !requested.count({each, axis.str()}))
        problem.cuts.back().atoms.push_back(each);
  }
  return cut->second;
}

void LayoutCandidates::addParameters(LayoutProblem &problem) {
  for (const std::string &axis : axes)
    if (mesh.axisSize(axis) > 1)
      addParameters(axis, problem);
}

void LayoutCandidates::addBesideRequests(LayoutProblem &problem) {
  for (const std::string &axis : axes)
    for (Value parameter : asked)
      if (mesh.axisSize(axis) > 1 && reduced.contains(parameter))
        for (unsigned atom : atomsOf(program, parameter))
          if (canCut(atom, axis, problem))
            cutOf(atom, axis, problem);
}

void LayoutCandidates::addBrought(const LayoutRequest &request, LayoutProblem &problem) {
  for (auto [d, axes] : llvm::enumerate(request.dims))
    for (const std::string &axis : axes)
      for (const auto &segment : program.getDim(request.value, d))
        for (unsigned atom : segment)
          if (mesh.axisSize(axis) > 1 && canCut(atom, axis, problem))
            cutOf(atom, axis, problem);
}

void LayoutCandidates::addGroup(const AtomDim &dim, StringRef axis, LayoutProblem &problem) {
  SmallVector<unsigned> group;
  for (const auto &segment : dim)
    for (unsigned atom : segment)
      if (canCut(atom, axis, problem))
        if (unsigned cut = cutOf(atom, axis, problem); !llvm::is_contained(group, cut))
          group.push_back(cut);
  if (dim.size() > 1 && group.size() > 1 && !llvm::is_contained(problem.groups, group))
    problem.groups.push_back(std::move(group));
}

void LayoutCandidates::addParameters(StringRef axis, LayoutProblem &problem) {
  std::map<SmallVector<unsigned>, size_t> known;
  for (Value parameter : parameters) {
    if (!reduced.contains(parameter))
      continue;
    LayoutProblem::Choice choice{{}, static_cast<double>(tensorBytes(parameter.getType()))};
    for (unsigned atom : atomsOf(program, parameter))
      if (canCut(atom, axis, problem)) {
        unsigned cut = cutOf(atom, axis, problem);
        if (!llvm::is_contained(choice.cuts, cut))
          choice.cuts.push_back(cut);
      }
    if (choice.cuts.empty())
      continue;
    for (int64_t d = 0; d < nn::typeOf(parameter).getRank(); ++d)
      addGroup(program.getDim(parameter, d), axis, problem);
    auto [place, isNew] = known.try_emplace(choice.cuts, problem.choices.size());
    if (isNew)
      problem.choices.push_back(choice);
    else
      problem.choices[place->second].bytes += choice.bytes;
  }
}

void LayoutCandidates::addInputs(StringRef axis, ArrayRef<Value> inputs, LayoutProblem &problem) {
  if (mesh.axisSize(axis) == 1)
    return;
  for (Value input : inputs)
    if (isa<IntegerType>(nn::typeOf(input).getElementType()))
      for (unsigned atom : atomsOf(program, input))
        if (canCut(atom, axis, problem))
          cutOf(atom, axis, problem);
}

/// The number of devices along `axes` among which a tensor with this layout is divided.
double LayoutCandidates::countDevices(const Layout &layout) const {
  double devices = 1;
  for (const DimLayout &dim : layout.dims)
    for (const std::string &axis : shardedAxes(dim))
      if (llvm::is_contained(axes, axis))
        devices *= static_cast<double>(mesh.axisSize(axis));
  return devices;
}

double LayoutCandidates::excessBytes(const Assignment &assignment) const {
  double least = 0, held = 0;
  for (Value parameter : parameters) {
    const double bytes = tensorBytes(parameter.getType());
    double mostDevices = 1, devices = countDevices(assignment.getLayout(parameter));
    for (const std::string &axis : axes)
      if (llvm::any_of(atomsOf(program, parameter), [&](unsigned atom) {
            return program.getSize(atom) >= mesh.axisSize(axis) && !settled.contains(atom);
          }))
        mostDevices *= mesh.axisSize(axis);
    for (Value form : nn::getForms(parameter))
      for (const Layout *layout : assignment.getReads(form))
        devices = std::min(devices, countDevices(*layout));
    least += bytes / mostDevices;
    held += bytes / devices;
  }
  return std::max(0.0, held - least - kTolerance * allBytes);
}

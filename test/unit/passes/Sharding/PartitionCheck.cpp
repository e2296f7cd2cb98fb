// Runs a program whole and partitioned in the interpreter.

#include "test/unit/passes/Sharding/PartitionCheck.h"

#include "test/unit/planning/FlatMachine.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "passes/Sharding/Passes.h"
#include "passes/Verify/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

/// Of the largest element: the order of additions differs, and no value is used in a
/// way that makes its rounding grow.
static const double kTolerance = 1e-12;

PartitionCase PartitionCase::clone() const {
  return {module.get().clone(), mesh, machine, limits, detours};
}

std::string PartitionCase::commandLine() const {
  std::string options;
  auto add = [&](StringRef name, const std::vector<std::string> &items) {
    if (!items.empty())
      options += ((options.empty() ? "" : " ") + name + "=" + llvm::join(items, ",")).str();
  };
  add("axes", mesh.axes);
  add("sequential-axes", mesh.sequential);
  add("batch-axes", mesh.batchAxes);
  add("auto-axes", mesh.autoAxes);
  return "dpc-opt --dpc-assign-layouts='" + options + "'";
}

std::optional<PartitionCase> dpc::test::makeCase(MLIRContext &context,
                                                 const RandomProgram &program) {
  PartitionCase made;
  made.module = parseSourceString<ModuleOp>(program.text, &context);
  if (!made.module)
    return std::nullopt;
  made.mesh = program.mesh;
  made.machine = makeFlatMachine(5e10, 1e10, 5e9, 5e-6);
  for (const RandomArgument &argument : program.arguments)
    if (argument.limit)
      made.limits[argument.name] = argument.limit;
  return made;
}

static AssignLayoutsOptions optionsOf(const RandomMesh &mesh) {
  AssignLayoutsOptions options;
  options.axes = mesh.axes;
  options.sequentialAxes = mesh.sequential;
  options.batchAxes = mesh.batchAxes;
  options.autoAxes = mesh.autoAxes;
  return options;
}

HostTensor dpc::test::makeArgument(func::FuncOp function, unsigned index, int64_t limit) {
  nn::ArgAttr arg = nn::getArg(function, index);
  RankedTensorType type = nn::typeOf(function.getArgument(index));
  SmallVector<int64_t> shape(type.getShape());
  if (!nn::isState(arg.getKind()) && arg.getBatch() >= 0) // arrays have the samples first
    std::rotate(shape.begin(), shape.begin() + arg.getBatch(), shape.begin() + arg.getBatch() + 1);
  HostTensor tensor(RankedTensorType::get(shape, type.getElementType()));
  const std::string name = arg.getName().str();
  std::seed_seq seed(name.begin(), name.end());
  std::mt19937 random(seed);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (limit)
      tensor.ints[i] = 1 + random() % (limit - 1);
    else
      tensor.floats[i] = random() / 2147483648.0 - 1;
  }
  return tensor;
}

/// What the function `name` of `module` gives, with the arguments that it has in `whole`.
static std::optional<TensorMap> runFunction(ModuleOp module, const PartitionCase &whole,
                                            StringRef name) {
  FailureOr<Session> session = Session::create(module);
  if (failed(session))
    return std::nullopt;
  DataSet data;
  auto function = whole.module.get().lookupSymbol<func::FuncOp>(name);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    nn::ArgAttr arg = nn::getArg(function, i);
    auto limit = whole.limits.find(arg.getName().str());
    (nn::isState(arg.getKind()) ? session->state : data.arrays)
        .insert_or_assign(
            arg.getName().str(),
            makeArgument(function, i, limit == whole.limits.end() ? 0 : limit->second));
  }
  FailureOr<TensorMap> result = session->run(name, data, 0, {});
  if (failed(result))
    return std::nullopt;
  return *result;
}

/// `layout` with some axes of devices where they were not: a cut in another
/// dimension, a partial value cut, but for those that are `kept` partial.
static dist::Layout shuffle(dist::Layout layout, ArrayRef<dist::Partial> kept,
                            const dist::MeshShape &mesh, std::mt19937 &random) {
  auto isSequential = [&](const std::string &axis) {
    return mesh.axes[*mesh.axisIndex(axis)].sequential;
  };
  for (const dist::MeshAxis &axis : mesh.axes) {
    bool isKept =
        llvm::any_of(kept, [&](const dist::Partial &partial) { return partial.axis == axis.name; });
    if (axis.sequential || isKept || layout.dims.empty() || random() % 2)
      continue;
    // Into one factor of each segment, none that microbatches are cut by.
    dist::DimLayout &dim = layout.dims[random() % layout.dims.size()];
    std::vector<dist::Factor *> places;
    for (dist::Segment &segment : dim.segments) {
      dist::Factor &factor = segment.factors[random() % segment.factors.size()];
      if (llvm::none_of(factor.axes, isSequential))
        places.push_back(&factor);
    }
    if (places.size() != dim.segments.size())
      continue;
    for (dist::DimLayout &other : layout.dims)
      for (dist::Segment &segment : other.segments)
        for (dist::Factor &factor : segment.factors)
          llvm::erase(factor.axes, axis.name);
    llvm::erase_if(layout.partial,
                   [&](const dist::Partial &partial) { return partial.axis == axis.name; });
    for (dist::Factor *place : places)
      place->axes.push_back(axis.name);
  }
  return layout;
}

/// Sends reshards through layouts that no op asked for: propagation alone
/// would never leave a sum cut over the axis that it was made over.
static void addDetours(ModuleOp module, std::mt19937 &random) {
  std::vector<dist::ReshardOp> reshards;
  module.walk([&](dist::ReshardOp op) { reshards.push_back(op); });
  const dist::MeshShape mesh = dist::getMeshShape(module);
  for (dist::ReshardOp op : reshards) {
    dist::Layout from = op.getFrom().getLayout();
    // Sums of maxima are no maxima of sums.
    bool isMixed = llvm::any_of(from.partial, [&](const dist::Partial &partial) {
      return partial.reduction != from.partial.front().reduction;
    });
    if (isMixed || random() % 2)
      continue;
    auto via = dist::LayoutAttr::get(module.getContext(),
                                     shuffle(from, op.getTo().getLayout().partial, mesh, random));
    OpBuilder builder(op);
    Value detour =
        builder.create<dist::ReshardOp>(op.getLoc(), op.getInput(), op.getFromAttr(), via);
    op.getInputMutable().assign(detour);
    op.setFromAttr(via);
  }
}

std::string dpc::test::findDifference(const HostTensor &got, const HostTensor &want, double scale) {
  if (got.getType() != want.getType())
    return " of another type";
  for (size_t i = 0; i < want.floats.size(); ++i) {
    double a = got.floats[i], b = want.floats[i];
    bool same = std::isfinite(b) ? std::abs(a - b) <= kTolerance * scale
                                 : (std::isnan(a) && std::isnan(b)) || a == b;
    if (!same)
      return llvm::formatv("[{0}] = {1:E15} for {2:E15}", i, a, b).str();
  }
  for (size_t i = 0; i < want.ints.size(); ++i)
    if (got.ints[i] != want.ints[i])
      return llvm::formatv("[{0}] = {1} for {2}", i, got.ints[i], want.ints[i]).str();
  return "";
}

double dpc::test::findLargest(const TensorMap &tensors) {
  double largest = 1;
  for (const auto &[name, tensor] : tensors)
    for (double value : tensor.floats)
      if (std::isfinite(value))
        largest = std::max(largest, std::abs(value));
  return largest;
}

OwningOpRef<ModuleOp> dpc::test::place(const PartitionCase &trial, bool splitAtoms) {
  OwningOpRef<ModuleOp> module = trial.module.get().clone();
  dist::setMachine(*module, trial.machine);
  PassManager manager(module->getContext());
  AssignLayoutsOptions options = optionsOf(trial.mesh);
  options.splitAtoms = splitAtoms;
  manager.addPass(createAssignLayouts(options));
  if (failed(manager.run(*module)))
    return {};
  if (trial.detours) {
    std::mt19937 random(*trial.detours);
    addDetours(*module, random);
  }
  return module;
}

/// What is wrong with a layout of the placed program, before or after a detour.
static std::string findBadLayout(ModuleOp module) {
  const dist::MeshShape mesh = dist::getMeshShape(module);
  std::string wrong;
  module.walk([&](dist::ReshardOp op) {
    for (dist::LayoutAttr layout : {op.getFrom(), op.getTo()})
      if (auto defect = dist::check(layout.getLayout(), nn::typeOf(op.getInput()).getShape(), mesh))
        wrong = "has a bad layout: " + *defect;
  });
  return wrong;
}

bool dpc::test::isRefusal(StringRef errors) {
  return errors.contains("is needed whole inside the microbatches' loop");
}

std::string PartitionCheck::compare(const PartitionCase &trial) {
  std::string errors;
  ScopedDiagnosticHandler handler(trial.module.get().getContext(), [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(errors) << diagnostic << "\n";
    return success();
  });
  PartitionCase whole = trial.clone();
  OwningOpRef<ModuleOp> cut = place(trial);
  if (cut)
    if (std::string wrong = findBadLayout(*cut); !wrong.empty())
      return wrong;
  PassManager verify(trial.module.get().getContext());
  verify.addPass(createVerifyPlaced());
  if (cut && failed(verify.run(*cut)))
    return "is placed wrongly: " + errors;
  PassManager partition(trial.module.get().getContext());
  partition.addPass(createPartition());
  partition.addPass(createVerifyLocal());
  if (!cut || failed(partition.run(*cut))) {
    if (isRefusal(errors)) {
      ++refused;
      return "";
    }
    return "does not partition: " + errors;
  }
  cut->walk([&](Operation *op) {
    if (dist::isCollective(op))
      ++met[op->getName().stripDialect().str() +
            (op->getParentOfType<dist::MicroOp>() ? " in a loop" : "")];
  });
  // Layouts say how arguments are cut; the whole program has none.
  for (auto function : whole.module->getOps<func::FuncOp>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.removeArgAttr(i, dist::DistDialect::kLayoutAttrName);
  for (auto function : whole.module->getOps<func::FuncOp>()) {
    const std::string name = function.getName().str();
    auto want = runFunction(*whole.module, whole, name);
    if (!want)
      return "does not run whole: " + errors;
    auto got = runFunction(*cut, whole, name);
    if (!got)
      return "does not run: " + errors;
    const double largest = findLargest(*want);
    for (const auto &[result, tensor] : *want)
      if (std::string wrong = findDifference(got->find(result)->second, tensor, largest);
          !wrong.empty())
        return "@" + name + " gives %" + result + wrong;
  }
  return "";
}

bool dpc::test::hasSplits(const PartitionCase &trial) {
  ScopedDiagnosticHandler handler(trial.module.get().getContext(),
                                  [](Diagnostic &) { return success(); });
  std::string texts[2];
  for (bool splits : {false, true}) {
    OwningOpRef<ModuleOp> module = place(trial, splits);
    if (!module)
      return false;
    llvm::raw_string_ostream(texts[splits]) << *module;
  }
  return texts[0] != texts[1];
}

// Random programs under random layouts compute what they compute whole.

#include "passes/Sharding/Passes.h"
#include "test/unit/passes/Sharding/RandomProgram.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/NN/Partition/Partition.h"
#include "interpreter/Session.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {

/// One program, whole and partitioned.
class PartitionRandom : public ::testing::Test {
protected:
  PartitionRandom() : context(makeRegistry()) {
    context.disableMultithreading();
    context.loadDialect<nn::NNDialect, dist::DistDialect, func::FuncDialect>();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerPartitionModels(registry);
    return registry;
  }

  /// Elements from a hash of the argument's name and their index.
  HostTensor makeTensor(const RandomArgument &argument) {
    Builder builder(&context);
    Type element = argument.limit ? Type(builder.getI64Type()) : Type(builder.getF64Type());
    Shape shape = argument.shape;
    if (argument.batch >= 0) // arrays have the samples first
      std::rotate(shape.begin(), shape.begin() + argument.batch,
                  shape.begin() + argument.batch + 1);
    HostTensor tensor(RankedTensorType::get(shape, element));
    std::seed_seq seed(argument.name.begin(), argument.name.end());
    std::mt19937 random(seed);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (argument.limit)
        tensor.ints[i] = 1 + random() % (argument.limit - 1);
      else
        tensor.floats[i] = random() / 2147483648.0 - 1;
    }
    return tensor;
  }

  std::optional<TensorMap> runFunction(ModuleOp module, const RandomProgram &program,
                                       StringRef name) {
    FailureOr<Session> session = Session::create(module);
    if (failed(session))
      return std::nullopt;
    DataSet data;
    for (const RandomArgument &argument : program.arguments)
      (argument.isParameter ? session->state : data.arrays)
          .insert_or_assign(argument.name, makeTensor(argument));
    FailureOr<TensorMap> result = session->run(name, data, 0, {});
    if (failed(result))
      return std::nullopt;
    return *result;
  }

  /// `layout` with some axes of devices where they were not: a cut in another
  /// dimension, a partial value cut, but for those that are `kept` partial.
  dist::Layout shuffle(dist::Layout layout, ArrayRef<dist::Partial> kept,
                       const dist::MeshShape &mesh, std::mt19937 &random) {
    auto isSequential = [&](const std::string &axis) {
      return mesh.axes[*mesh.axisIndex(axis)].sequential;
    };
    for (const dist::MeshAxis &axis : mesh.axes) {
      bool isKept = llvm::any_of(
          kept, [&](const dist::Partial &partial) { return partial.axis == axis.name; });
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
  void addDetours(ModuleOp module, std::mt19937 &random) {
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
      auto via = dist::LayoutAttr::get(&context,
                                       shuffle(from, op.getTo().getLayout().partial, mesh, random));
      OpBuilder builder(op);
      Value detour =
          builder.create<dist::ReshardOp>(op.getLoc(), op.getInput(), op.getFromAttr(), via);
      op.getInputMutable().assign(detour);
      op.setFromAttr(via);
    }
  }

  /// "" if the partitioned program gives the same, else what is wrong. With a
  /// seed, reshards make detours.
  std::string compare(const RandomProgram &program, std::optional<uint32_t> detours = {}) {
    std::string errors;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      llvm::raw_string_ostream(errors) << diagnostic << "\n";
      return success();
    });
    OwningOpRef<ModuleOp> whole = parseSourceString<ModuleOp>(program.text, &context);
    if (!whole)
      return "does not parse: " + errors;
    OwningOpRef<ModuleOp> cut = whole->clone();
    dist::setMachine(*cut, {"cpu", "native", {5e10, 1e10}, {5e9, 5e-6}, {}});
    AssignLayoutsOptions options;
    options.axes = program.mesh.axes;
    options.sequentialAxes = program.mesh.sequential;
    options.batchAxes = program.mesh.batchAxes;
    options.autoAxes = program.mesh.autoAxes;
    PassManager manager(&context);
    PassManager partition(&context);
    manager.addPass(createAssignLayouts(options));
    partition.addPass(createPartition());
    bool isPlaced = succeeded(manager.run(*cut));
    if (isPlaced && detours) {
      std::mt19937 random(*detours);
      addDetours(*cut, random);
    }
    if (!isPlaced || failed(partition.run(*cut))) {
      // The one thing that microbatches cannot do.
      if (errors.find("is needed whole inside the microbatches' loop") != std::string::npos) {
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
    for (auto function : whole->getOps<func::FuncOp>())
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.removeArgAttr(i, dist::DistDialect::kLayoutAttrName);
    for (auto function : whole->getOps<func::FuncOp>()) {
      auto want = runFunction(*whole, program, function.getName());
      if (!want)
        return "does not run whole: " + errors;
      auto got = runFunction(*cut, program, function.getName());
      if (!got)
        return "does not run: " + errors;
      for (const auto &[name, tensor] : *want)
        if (std::string wrong = difference(got->find(name)->second, tensor); !wrong.empty())
          return "@" + function.getName().str() + " gives %" + name + wrong;
    }
    return "";
  }

  static std::string difference(const HostTensor &got, const HostTensor &want) {
    if (got.getType() != want.getType())
      return " of another type";
    double scale = 1;
    for (double value : want.floats)
      if (std::isfinite(value))
        scale = std::max(scale, std::abs(value));
    for (size_t i = 0; i < want.floats.size(); ++i) {
      double a = got.floats[i], b = want.floats[i];
      bool same = std::isfinite(b) ? std::abs(a - b) <= 1e-9 * scale
                                   : (std::isnan(a) && std::isnan(b)) || a == b;
      if (!same)
        return "[" + std::to_string(i) + "] = " + std::to_string(a) + " for " + std::to_string(b);
    }
    for (size_t i = 0; i < want.ints.size(); ++i)
      if (got.ints[i] != want.ints[i])
        return "[" + std::to_string(i) + "] = " + std::to_string(got.ints[i]) + " for " +
               std::to_string(want.ints[i]);
    return "";
  }

  MLIRContext context;
  int refused = 0;
  /// Collectives of the partitioned programs by kind.
  std::map<std::string, int> met;
};

std::string commandLine(const RandomMesh &mesh) {
  auto join = [](const std::vector<std::string> &items) {
    std::string text;
    for (const std::string &item : items)
      text += (text.empty() ? "" : ",") + item;
    return text;
  };
  return "dpc-opt --dpc-assign-layouts='axes=" + join(mesh.axes) +
         " sequential-axes=" + join(mesh.sequential) + " batch-axes=" + join(mesh.batchAxes) +
         " auto-axes=" + join(mesh.autoAxes) + "' --dpc-partition";
}

TEST_F(PartitionRandom, ComputesTheSame) {
  uint32_t first = 0, count = std::getenv("DPC_LONG") ? 20000 : 1500;
  if (const char *seed = std::getenv("DPC_SEED"))
    first = std::atoi(seed), count = 1;
  int failures = 0;
  for (uint32_t seed = first; seed < first + count && failures < 20; ++seed) {
    RandomProgram program = makeRandomProgram(seed);
    std::string wrong = compare(program, seed % 3 ? std::optional(seed) : std::nullopt);
    if (wrong.empty())
      continue;
    ++failures;
    ADD_FAILURE() << "DPC_SEED=" << seed << ": " << wrong << "\n"
                  << (program.text.size() < 3000 || count == 1
                          ? commandLine(program.mesh) + "\n" + program.text
                          : "");
  }
  EXPECT_LE(refused, int(count / 10)) << "too many programs were refused";
  if (count == 1)
    return;
  for (const char *kind : {"all_reduce", "reduce_scatter", "all_gather", "all_to_all"})
    for (const char *place : {"", " in a loop"})
      EXPECT_GE(met[std::string(kind) + place], int(count / 300)) << "too few of " << kind << place;
}

// Of x and -x one is negative on the first device: its logarithm is no number
// there, that of the other one elsewhere.
TEST_F(PartitionRandom, MaximumOverDevicesKeepsNan) {
  RandomProgram program;
  program.mesh.axes = {"a=6"};
  program.mesh.batchAxes = {"a"};
  program.arguments = {{"x", {6}, 0, 0}};
  program.text = R"(
    func.func @step(%x: tensor<6xf64> {nn.arg = #nn.arg<input "x", batch = 0>})
        -> (tensor<f64> {nn.result = #nn.result<output "a">},
            tensor<f64> {nn.result = #nn.result<output "b">}) {
      %y = nn.neg %x : tensor<6xf64>
      %0 = nn.log %x : tensor<6xf64>
      %1 = nn.log %y : tensor<6xf64>
      %2 = nn.reduce max %0 [0] : tensor<6xf64> -> tensor<f64>
      %3 = nn.reduce min %1 [0] : tensor<6xf64> -> tensor<f64>
      return %2, %3 : tensor<f64>, tensor<f64>
    })";
  EXPECT_EQ(compare(program), "");
}

} // namespace

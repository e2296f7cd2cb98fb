// Random training steps under random meshes, stages, axes and buckets: two steps and an
// evaluation give what they give undivided on one device.

#include "test/unit/passes/Bucketing/RandomUpdates.h"
#include "test/unit/passes/Sharding/Shrink.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Dist/IR/MicroLoop.h"
#include "dialects/NN/IR/Segments.h"
#include "dialects/NN/Partition/Partition.h"
#include "passes/Bucketing/Passes.h"
#include "passes/Sharding/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {

/// Options of dpc-divide-updates.
struct Division {
  int64_t stage = 0;
  std::vector<std::string> axes;
  int64_t firstBucketBytes = 64, bucketBytes = 64, keepBytes = 0, smallestBytes = -1;

  Division(const RandomMesh &mesh, std::mt19937 &random) {
    auto below = [&](int64_t limit) {
      return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
    };
    static const int64_t stages[] = {-1, 0, 1, 1, 2, 2, 3, 3, 3, 3};
    stage = stages[below(10)];
    auto limit = [&] { return int64_t(64) << below(7); };
    firstBucketBytes = limit();
    bucketBytes = limit();
    if (stage == 3 && below(2))
      keepBytes = limit();
    if (stage < 0) { // among those that sum the gradient, however small it is
      smallestBytes = 0;
      return;
    }
    std::vector<std::string> devices;
    for (const std::string &axis : mesh.axes)
      if (std::string name = axis.substr(0, axis.find('=')); name != "micro")
        devices.push_back(name);
    while (axes.empty())
      for (const std::string &name : devices)
        if (below(3) < (name == "model" ? 1 : 2))
          axes.push_back(name);
  }

  std::unique_ptr<Pass> createPass() const {
    DivideUpdatesOptions options;
    options.stage = stage;
    options.axes = axes;
    options.firstBucketBytes = firstBucketBytes;
    options.bucketBytes = bucketBytes;
    options.keepBytes = keepBytes;
    options.smallestBytes = smallestBytes;
    return createDivideUpdates(options);
  }

  /// After the one that places the program.
  std::string commandLine() const {
    std::string text =
        "--dpc-partition --canonicalize --cse --dpc-divide-updates='stage=" + std::to_string(stage);
    if (!axes.empty())
      text += " axes=" + llvm::join(axes, ",");
    text += " first-bucket-bytes=" + std::to_string(firstBucketBytes) +
            " bucket-bytes=" + std::to_string(bucketBytes);
    if (keepBytes)
      text += " keep-bytes=" + std::to_string(keepBytes);
    if (smallestBytes >= 0)
      text += " smallest-bytes=" + std::to_string(smallestBytes);
    return text + "'";
  }
};

/// Runs programs undivided and divided, and compares what they give.
class DivisionCheck {
public:
  /// "" if losses, outputs and state are alike, else what is wrong.
  std::string compare(const PartitionCase &trial, const Division &division) {
    std::string errors;
    ScopedDiagnosticHandler handler(trial.module.get().getContext(), [&](Diagnostic &diagnostic) {
      llvm::raw_string_ostream(errors) << diagnostic << "\n";
      return success();
    });
    OwningOpRef<ModuleOp> local = makeLocal(trial);
    if (!local) {
      if (!isRefusal(errors))
        return "does not partition: " + errors;
      ++refused;
      return "";
    }
    OwningOpRef<ModuleOp> divided = divide(*local, division);
    if (!divided)
      return "is not divided: " + errors;
    count(*local, *divided, division);
    // Layouts say how arguments are cut; the whole program has none.
    PartitionCase whole = trial.clone();
    for (auto function : whole.module->getOps<func::FuncOp>())
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.removeArgAttr(i, dist::DistDialect::kLayoutAttrName);
    std::optional<TensorMap> want = run(*whole.module, *whole.module);
    if (!want)
      return "does not run whole: " + errors;
    std::optional<TensorMap> got = run(*divided, *whole.module);
    if (!got)
      return "does not run: " + errors;
    return findFirstDifference(*got, *want);
  }

  /// Programs that microbatches cannot run.
  int refused = 0;
  /// Programs by what is in them once they are divided.
  std::map<std::string, int> met;

private:
  static OwningOpRef<ModuleOp> makeLocal(const PartitionCase &trial) {
    OwningOpRef<ModuleOp> module = place(trial);
    if (!module)
      return {};
    PassManager manager(module->getContext());
    manager.addPass(createPartition());
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
    return succeeded(manager.run(*module)) ? std::move(module) : OwningOpRef<ModuleOp>();
  }

  static OwningOpRef<ModuleOp> divide(ModuleOp local, const Division &division) {
    OwningOpRef<ModuleOp> module = local.clone();
    PassManager manager(module->getContext());
    manager.addPass(division.createPass());
    return succeeded(manager.run(*module)) ? std::move(module) : OwningOpRef<ModuleOp>();
  }

  /// Two steps on different rows, then an evaluation: what each gives, and the state.
  static std::optional<TensorMap> run(ModuleOp module, ModuleOp whole) {
    FailureOr<Session> session = Session::create(module);
    if (failed(session))
      return std::nullopt;
    DataSet data;
    for (auto function : whole.getOps<func::FuncOp>())
      for (unsigned i = 0; i < function.getNumArguments(); ++i) {
        nn::ArgAttr arg = nn::getArg(function, i);
        HostTensor value = makeArgument(function, i);
        if (arg.getName().starts_with("v|")) // second moments
          for (double &element : value.floats)
            element = std::abs(element);
        (nn::isState(arg.getKind()) ? session->state : data.arrays)
            .insert_or_assign(arg.getName().str(), std::move(value));
      }
    TensorMap all;
    auto add = [&](const std::string &when, const TensorMap &tensors) {
      for (const auto &[name, tensor] : tensors)
        all.emplace(when + name, tensor);
    };
    for (int64_t step = 0; step < 2; ++step) {
      FailureOr<TensorMap> result = session->run("step", data, /*firstRow=*/step, {{"lr", 0.1}});
      if (failed(result))
        return std::nullopt;
      add("step " + std::to_string(step) + ": ", *result);
    }
    if (module.lookupSymbol("eval")) {
      FailureOr<TensorMap> result = session->run("eval", data, 0, {});
      if (failed(result))
        return std::nullopt;
      add("eval: ", *result);
    }
    add("state: ", session->state);
    return all;
  }

  static std::string findFirstDifference(const TensorMap &got, const TensorMap &want) {
    const double largest = findLargest(want);
    for (const auto &[name, tensor] : want) {
      auto own = got.find(name);
      if (own == got.end())
        return "gives no %" + name;
      if (std::string wrong = findDifference(own->second, tensor, largest); !wrong.empty())
        return "gives other %" + name + wrong;
    }
    return got.size() == want.size() ? "" : "gives too much";
  }

  /// Whether `value` is a shard of a sum, which a loop may have added up.
  static bool isScattered(Value value) {
    if (auto loop = value.getDefiningOp<dist::MicroOp>())
      value =
          loop.getBodyBlock().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
    return value.getDefiningOp<dist::ReduceScatterOp>();
  }

  /// Members of the largest storage that is cut; 0 if none is.
  static size_t findLargestStorage(ModuleOp module) {
    size_t members = 0;
    for (auto function : module.getOps<func::FuncOp>())
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (dist::StorageAttr storage = dist::getArgStorage(function, i);
            storage && !storage.getAxes().empty())
          members = std::max(members, storage.getMembers().size());
    return members;
  }

  void count(ModuleOp local, ModuleOp divided, Division division) {
    const size_t members = findLargestStorage(divided);
    if (members == 0)
      return;
    std::map<std::string, bool> found;
    found["storage"] = true;
    found["storage of several"] = members > 1;
    divided.walk([&](Operation *op) {
      const bool isInLoop = bool(op->getParentOfType<dist::MicroOp>());
      found["reduce_scatter in a loop"] |= isInLoop && isa<dist::ReduceScatterOp>(op);
      found["all_gather in a loop"] |= isInLoop && isa<dist::AllGatherOp>(op);
      found["segment_sum"] |= isa<nn::SegmentSumOp>(op);
      found["segment_fill"] |= isa<nn::SegmentFillOp>(op);
      if (auto sum = dyn_cast<dist::AllReduceOp>(op))
        found["sum over other axes"] |= isScattered(sum.getInput());
      found["taken gradient"] |=
          isa<dist::ShardOp>(op) && bool(op->getOperand(0).getDefiningOp<dist::PackOp>());
    });
    if (division.keepBytes) {
      std::string texts[2];
      llvm::raw_string_ostream(texts[0]) << divided;
      division.keepBytes = 0;
      llvm::raw_string_ostream(texts[1]) << *divide(local, division);
      found["kept buckets"] = texts[0] != texts[1];
    }
    for (const auto &[what, isThere] : found)
      met[what] += isThere;
  }
};

class DivideUpdatesRandom : public ::testing::Test {
protected:
  DivideUpdatesRandom() : context(makeRegistry()) {
    context.disableMultithreading();
    context.loadDialect<nn::NNDialect, dist::DistDialect, func::FuncDialect>();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerPartitionModels(registry);
    return registry;
  }

  MLIRContext context;
  DivisionCheck check;
};

/// What is wrong, but for the numbers of it: a smaller program fails alike.
StringRef kindOf(StringRef wrong) { return wrong.split(':').first.split('%').first; }

TEST_F(DivideUpdatesRandom, ComputesTheSame) {
  uint32_t first = 0, count = std::getenv("DPC_LONG") ? 6000 : 400;
  if (const char *seed = std::getenv("DPC_SEED"))
    first = std::atoi(seed), count = 1;
  int failures = 0, split = 0;
  for (uint32_t seed = first; seed < first + count && failures < 5; ++seed) {
    std::optional<PartitionCase> trial = makeCase(context, makeRandomUpdates(seed));
    ASSERT_TRUE(trial) << "DPC_SEED=" << seed << "\n" << makeRandomUpdates(seed).text;
    std::mt19937 random(~seed); // other draws than the program's
    const Division division(trial->mesh, random);
    if (seed % 10 == 1)
      split += hasSplits(*trial);
    const std::string wrong = check.compare(*trial, division);
    if (wrong.empty())
      continue;
    ++failures;
    DivisionCheck again;
    const PartitionCase small = shrink(*trial, [&](const PartitionCase &smaller) {
      return kindOf(again.compare(smaller, division)) == kindOf(wrong);
    });
    const std::string left = again.compare(small, division);
    ADD_FAILURE() << "DPC_SEED=" << seed << ": " << wrong << "\n"
                  << "what is left of it fails alike: "
                  << writeCase(small, seed, left, division.commandLine());
  }
  EXPECT_LE(check.refused, int(count / 10)) << "too many programs were refused";
  if (count == 1)
    return;
  EXPECT_GE(split, int(count / 300)) << "too few programs in which idle ops are divided";
  const std::pair<const char *, int> least[] = {{"storage", 2},
                                                {"storage of several", 4},
                                                {"reduce_scatter in a loop", 10},
                                                {"all_gather in a loop", 10},
                                                {"segment_sum", 5},
                                                {"segment_fill", 20},
                                                {"sum over other axes", 20},
                                                {"taken gradient", 4},
                                                {"kept buckets", 20}};
  for (auto [what, share] : least)
    EXPECT_GE(check.met[what], int(count) / share) << "too few of " << what;
}

} // namespace

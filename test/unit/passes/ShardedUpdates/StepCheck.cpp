// Runs training steps whole on one device and changed on many in the interpreter.

#include "test/unit/passes/ShardedUpdates/StepCheck.h"
#include "test/unit/passes/Sharding/Shrink.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "passes/ShardedUpdates/Passes.h"
#include "passes/Sharding/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

Division::Division(const RandomMesh &mesh, std::mt19937 &random) {
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

std::unique_ptr<Pass> Division::createPass() const {
  DivideUpdatesOptions options;
  options.stage = stage;
  options.axes = axes;
  options.firstBucketBytes = firstBucketBytes;
  options.bucketBytes = bucketBytes;
  options.keepBytes = keepBytes;
  options.smallestBytes = smallestBytes;
  return createDivideUpdates(options);
}

std::string Division::commandLine() const {
  std::string text = "--dpc-divide-updates='stage=" + std::to_string(stage);
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

const char *const dpc::test::kMakeLocal = "--dpc-partition --canonicalize --cse";

/// Two steps on different rows, then an evaluation: what each gives, and the state.
static std::optional<TensorMap> run(ModuleOp module, const PartitionCase &whole) {
  FailureOr<Session> session = Session::create(module);
  if (failed(session))
    return std::nullopt;
  DataSet data;
  for (auto function : whole.module.get().getOps<func::FuncOp>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      nn::ArgAttr arg = nn::getArg(function, i);
      if (arg.getKind() == nn::ArgKind::control)
        continue;
      const std::string name = arg.getName().str();
      auto limit = whole.limits.find(name);
      HostTensor value = makeArgument(function, i, limit == whole.limits.end() ? 0 : limit->second);
      if (name.rfind("v|", 0) == 0 || name.rfind("exp_avg_sq|", 0) == 0) // second moments
        for (double &element : value.floats)
          element = std::abs(element);
      (nn::isState(arg.getKind()) ? session->state : data.arrays)
          .insert_or_assign(name, std::move(value));
    }
  TensorMap all;
  auto add = [&](const std::string &when, const TensorMap &tensors) {
    for (const auto &[name, tensor] : tensors)
      all.emplace(when + name, tensor);
  };
  for (int64_t step = 0; step < 2; ++step) {
    FailureOr<TensorMap> result =
        session->run("step", data, /*firstRow=*/step,
                     {{"lr", 0.1}, {"learning_rate", 0.1}, {"step", double(step)}});
    if (failed(result))
      return std::nullopt;
    add("step " + std::to_string(step) + ": ", *result);
  }
  if (session->hasFunction("eval")) {
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

OwningOpRef<ModuleOp> StepCheck::apply(ModuleOp module,
                                       llvm::function_ref<void(OpPassManager &)> passes) {
  OwningOpRef<ModuleOp> made = module.clone();
  PassManager manager(module.getContext());
  passes(manager);
  return succeeded(manager.run(*made)) ? std::move(made) : OwningOpRef<ModuleOp>();
}

std::string StepCheck::compare(const PartitionCase &trial) {
  std::string errors;
  ScopedDiagnosticHandler handler(trial.module.get().getContext(), [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(errors) << diagnostic << "\n";
    return success();
  });
  OwningOpRef<ModuleOp> local = place(trial);
  if (local)
    local = apply(*local, [](OpPassManager &manager) {
      manager.addPass(createPartition());
      manager.addPass(createCanonicalizerPass());
      manager.addPass(createCSEPass());
    });
  if (!local) {
    if (!isRefusal(errors))
      return "does not partition: " + errors;
    ++refused;
    return "";
  }
  OwningOpRef<ModuleOp> made =
      apply(*local, [&](OpPassManager &manager) { addPasses(*local, manager); });
  if (!made)
    return "is refused: " + errors;
  count(*local, *made);
  // Layouts say how arguments are cut; the whole program has none.
  PartitionCase whole = trial.clone();
  for (auto function : whole.module->getOps<func::FuncOp>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.removeArgAttr(i, dist::DistDialect::kLayoutAttrName);
  std::optional<TensorMap> want = run(*whole.module, whole);
  if (!want)
    return "does not run whole: " + errors;
  std::optional<TensorMap> got = run(*made, whole);
  if (!got)
    return "does not run: " + errors;
  return findFirstDifference(*got, *want);
}

/// What is wrong, but for the numbers of it: a smaller program fails alike.
static StringRef kindOf(StringRef wrong) { return wrong.split(':').first.split('%').first; }

RandomSeeds::RandomSeeds() : count(std::getenv("DPC_LONG") ? 6000 : 400) {
  if (const char *seed = std::getenv("DPC_SEED"))
    first = std::atoi(seed), count = 1;
}

void RandomSeeds::forEach(llvm::function_ref<std::string(uint32_t)> run) {
  int failures = 0;
  for (uint32_t seed = first; seed < first + count && failures < 5; ++seed)
    failures += !run(seed).empty();
  EXPECT_LE(refused, int(count / 10)) << "too many programs were refused";
}

std::string RandomSeeds::compare(StepCheck &check, const PartitionCase &trial, uint32_t seed) {
  const std::string wrong = check.compare(trial);
  refused += check.refused;
  for (const auto &[what, programs] : check.met)
    met[what] += programs;
  if (!wrong.empty())
    check.reportFailure(trial, seed, wrong);
  return wrong;
}

void RandomSeeds::expectShares(ArrayRef<std::pair<const char *, int>> least) const {
  if (isOne())
    return;
  for (auto [what, share] : least) {
    auto own = met.find(what);
    EXPECT_GE(own == met.end() ? 0 : own->second, int(count) / share)
        << "too few programs: " << what;
  }
}

void StepCheck::reportFailure(const PartitionCase &trial, uint32_t seed, StringRef wrong) {
  const PartitionCase small = shrink(trial, [&](const PartitionCase &smaller) {
    return kindOf(compare(smaller)) == kindOf(wrong);
  });
  ADD_FAILURE() << "DPC_SEED=" << seed << ": " << wrong.str() << "\n"
                << "what is left of it fails alike: "
                << writeCase(small, seed, compare(small), commandLine());
}

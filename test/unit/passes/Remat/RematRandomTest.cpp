// Random networks under random meshes, divisions of state and recomputation: two steps and
// an evaluation give what they give on one device that makes nothing again.

#include "test/unit/passes/Remat/TrainingTest.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MicroLoop.h"
#include "dialects/Interfaces/NodeNames.h"
#include "passes/Buckets/Passes.h"
#include "passes/Forward/ForwardPass.h"
#include "passes/Fusion/Passes.h"
#include "passes/Overlap/Passes.h"
#include "passes/Remat/Passes.h"
#include "passes/ShardedUpdates/Passes.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {

/// Makes values again, divides state, and forms kernels.
class RematCheck : public StepCheck {
public:
  RematCheck(const RandomMesh &mesh, std::mt19937 random) : division(mesh, random), random(random) {
    kind = Kind(below(3));
    if (kind == someBytes)
      savedBytes = 1 + below(int64_t(1) << below(13));
    peelsLoop = division.stage < 2 && below(2);
    formsKernels = below(2);
  }

protected:
  std::string commandLine() const override {
    std::string text = kMakeLocal + (" --dpc-remat='saved-bytes=" + std::to_string(savedBytes));
    if (!nodes.empty())
      text += " nodes=" + llvm::join(nodes, ",");
    text += "'";
    if (peelsLoop)
      text += " --dpc-peel-microbatches=smallest-bytes=0";
    text += " " + division.commandLine();
    if (formsKernels)
      text += " --dpc-form-kernels --dpc-bucket-collectives";
    return text;
  }

  void addPasses(ModuleOp local, OpPassManager &manager) override {
    if (kind == namedNodes && nodes.empty())
      chooseNodes(local);
    manager.addPass(createPass());
    if (peelsLoop) {
      PeelMicrobatchesOptions peeling;
      peeling.smallestBytes = 0;
      manager.addNestedPass<func::FuncOp>(createPeelMicrobatches(peeling));
    }
    manager.addPass(division.createPass());
    if (formsKernels) {
      manager.addNestedPass<func::FuncOp>(createFormKernels());
      manager.addNestedPass<func::FuncOp>(createFreeOperands());
      manager.addNestedPass<func::FuncOp>(createBucketCollectives());
    }
  }

  void count(ModuleOp local, ModuleOp) override {
    OwningOpRef<ModuleOp> made =
        apply(local, [&](OpPassManager &manager) { manager.addPass(createPass()); });
    std::map<std::string, bool> found;
    made->walk([&](nn::AfterOp op) {
      found["all again"] |= kind == allBytes;
      found["some again"] |= kind == someBytes;
      found["named again"] |= kind == namedNodes;
      found["again in a loop"] |= bool(op->getParentOfType<dist::MicroOp>());
      found["again at stage 3"] |= division.stage == 3;
      found["again in kernels"] |= formsKernels;
    });
    std::map<std::string, int> before = countOps(local);
    for (const auto &[what, ops] : countOps(*made))
      found[what + " again"] = ops > before[what];
    for (const auto &[what, isThere] : found)
      met[what] += isThere;
  }

private:
  enum Kind { allBytes, someBytes, namedNodes };

  int64_t below(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
  }

  std::unique_ptr<Pass> createPass() const {
    RematOptions options;
    options.savedBytes = savedBytes;
    options.nodes = nodes;
    return createRemat(options);
  }

  /// Some layers of the forward pass, by their names and by patterns of them.
  void chooseNodes(ModuleOp local) {
    auto step = local.lookupSymbol<func::FuncOp>("step");
    std::set<std::string> names;
    auto add = [&](Block &block, const Ancestors &forward) {
      for (Operation &op : block.without_terminator())
        if (forward.ops.contains(&op))
          for (StringRef name : nodesOf(op.getLoc()))
            names.insert(name.str());
    };
    const Ancestors forward = findForwardPass(step);
    add(step.front(), forward);
    for (auto loop : step.front().getOps<dist::MicroOp>())
      if (forward.ops.contains(loop))
        add(loop.getBodyBlock(), Ancestors(loop, forward));
    for (const std::string &name : names)
      if (below(3) == 0)
        nodes.push_back(below(2) ? name : "*" + name.substr(name.find('.') + 1));
    if (nodes.empty())
      nodes.push_back("*");
  }

  /// Collectives, and ops by their names.
  static std::map<std::string, int> countOps(ModuleOp module) {
    std::map<std::string, int> ops;
    module.walk([&](Operation *op) {
      ++ops[dist::isCollective(op) ? "collective" : op->getName().getStringRef().str()];
    });
    return ops;
  }

  const Division division;
  std::mt19937 random;
  Kind kind;
  int64_t savedBytes = -1;
  std::vector<std::string> nodes;
  bool peelsLoop, formsKernels;
};

class RematRandom : public TrainingTest {};

TEST_F(RematRandom, ComputesTheSame) {
  RandomSeeds seeds;
  seeds.forEach([&](uint32_t seed) -> std::string {
    const RandomTraining training = makeRandomTraining(seed);
    std::string errors;
    std::optional<PartitionCase> trial = makeStep(training, errors);
    if (!trial) {
      ADD_FAILURE() << "DPC_SEED=" << seed << "\n" << errors << training.program.text;
      return "no program";
    }
    RematCheck check(trial->mesh, std::mt19937(~seed)); // other draws than the program's
    return seeds.compare(check, *trial, seed);
  });
  seeds.expectShares({{"all again", 8},
                      {"some again", 10},
                      {"named again", 6},
                      {"again in a loop", 5},
                      {"again in kernels", 5},
                      {"again at stage 3", 6},
                      {"collective again", 20},
                      {"nn.dot again", 6},
                      {"nn.random_uniform again", 80},
                      {"nn.attention again", 100},
                      {"nn.normalize again", 25}});
}

} // namespace

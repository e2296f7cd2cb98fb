// Random networks under random meshes, cut at random places into stages: two steps and an
// evaluation give what they give on one device.

#include "test/unit/passes/Remat/TrainingTest.h"

#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/Messages.h"
#include "passes/Forward/ForwardPass.h"
#include "passes/Stages/ForwardCut.h"
#include "passes/Stages/Passes.h"
#include "passes/Verify/Passes.h"

#include <numeric>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {

/// Cuts a program into stages.
class StagesCheck : public StepCheck {
public:
  StagesCheck(int64_t stages, std::mt19937 random)
      : stages(stages), random(random), isRandomCut(this->random() % 4 != 0) {}

protected:
  std::string commandLine() const override {
    std::string text = std::string(kMakeLocal) + " --dpc-assign-stages";
    if (!starts.empty()) {
      text += "=starts=";
      for (unsigned start : starts)
        text += (start == starts.front() ? "" : ",") + std::to_string(start);
    }
    return text + " --dpc-cut-stages --dpc-join-messages --dpc-verify-stages";
  }

  void addPasses(ModuleOp local, OpPassManager &manager) override {
    AssignStagesOptions options;
    if (isRandomCut)
      chooseStarts(local);
    options.starts = starts;
    manager.addPass(createAssignStages(options));
    manager.addPass(createCutStages());
    manager.addPass(createJoinMessages());
    manager.addPass(createVerifyStages());
  }

  void count(ModuleOp, ModuleOp made) override {
    std::map<std::string, bool> found;
    made->walk([&](Operation *op) {
      const bool isInLoop = bool(op->getParentOfType<dist::MicroOp>());
      found["message in a loop"] |= isa<dist::SendOp>(op) && isInLoop;
      found["joined message"] |=
          isa<dist::SendOp>(op) && op->getOperand(0).getDefiningOp<nn::ConcatOp>();
      found["message outside of loops"] |= isa<dist::SendOp>(op) && !isInLoop;
      if (auto reduce = dyn_cast<dist::StageReduceOp>(op)) {
        found["reduction"] = true;
        found["reduction of a tensor"] |= !reduce.getType().getShape().empty();
      }
    });
    found["chosen cut"] = !isRandomCut;
    found["three stages"] = stages == 3;
    for (const auto &[what, isThere] : found)
      met[what] += isThere;
  }

private:
  /// Draws the starts of chunks among the numbered ops.
  void chooseStarts(ModuleOp local) {
    auto step = local.lookupSymbol<func::FuncOp>("step");
    SmallVector<Value> roots;
    for (OpOperand &result : step.front().getTerminator()->getOpOperands())
      if (nn::ResultAttr attr = nn::getResult(step, result.getOperandNumber());
          attr.getKind() == nn::ResultKind::metric && attr.getName() == "loss")
        roots.push_back(result.get());
    const MeshPrices prices = *dist::getMeshPrices(local);
    const size_t ops = ForwardCut(step, roots, /*trains=*/true, prices).getOps().size();
    std::vector<unsigned> numbers(ops ? ops - 1 : 0);
    std::iota(numbers.begin(), numbers.end(), 1);
    std::shuffle(numbers.begin(), numbers.end(), random);
    numbers.resize(std::min<size_t>(numbers.size(), stages - 1));
    std::sort(numbers.begin(), numbers.end());
    starts = numbers;
  }

  const int64_t stages;
  std::mt19937 random;
  const bool isRandomCut;
  std::vector<unsigned> starts;
};

class StagesRandom : public TrainingTest {};

TEST_F(StagesRandom, ComputesTheSame) {
  RandomSeeds seeds;
  seeds.forEach([&](uint32_t seed) -> std::string {
    const RandomTraining training = makeRandomTraining(seed);
    std::string errors;
    std::optional<PartitionCase> trial = makeStep(training, errors);
    if (!trial) {
      ADD_FAILURE() << "DPC_SEED=" << seed << "\n" << errors << training.program.text;
      return "no program";
    }
    std::mt19937 random(~seed); // other draws than those of the program
    const int64_t stages = 2 + random() % 2;
    trial->mesh.axes.push_back("pipe=" + std::to_string(stages));
    StagesCheck check(stages, random);
    return seeds.compare(check, *trial, seed);
  });
  seeds.expectShares({{"message in a loop", 5},
                      {"message outside of loops", 5},
                      {"joined message", 40},
                      {"reduction", 10},
                      {"reduction of a tensor", 40},
                      {"chosen cut", 8},
                      {"three stages", 4}});
}

} // namespace

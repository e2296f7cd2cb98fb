// Random networks cut into chunks, and scheduled in random ways: the orders of the stages keep the
// limits and never hang, on hosts or devices.

#include "test/unit/passes/Remat/TrainingTest.h"

#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Pieces.h"
#include "dialects/Dist/IR/Stages.h"
#include "passes/Fusion/Passes.h"
#include "passes/Overlap/Passes.h"
#include "passes/Sharding/Passes.h"
#include "passes/Stages/Passes.h"
#include "passes/Verify/Passes.h"
#include "planning/ScheduleKind.h"
#include "planning/StageOrder.h"

#include <deque>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {

using Message = std::pair<int64_t, int64_t>; // number, microbatch

/// Plays the orders of all stages. On hosts, a message moves once both of its ends have started it.
/// On devices, it must also be the oldest message at both ends that has not moved. Returns an
/// error if some stage waits for ever, or "".
std::string play(const std::vector<StageOrder> &orders, bool onDevices) {
  std::vector<size_t> at(orders.size());
  std::vector<std::deque<Message>> started(orders.size());
  std::map<Message, int> ends;
  std::set<Message> moved;
  auto mayMove = [&](const Message &message) {
    return ends[message] == 2 && (!onDevices || llvm::all_of(started, [&](const auto &queue) {
             return !llvm::is_contained(queue, message) || queue.front() == message;
           }));
  };
  for (bool goesOn = true; goesOn;) {
    goesOn = false;
    for (size_t stage = 0; stage < orders.size(); ++stage)
      while (at[stage] < orders[stage].steps.size()) {
        const StageStep &step = orders[stage].steps[at[stage]];
        const Message message = {step.index, step.microbatch};
        if (step.kind == StageStep::wait && !moved.count(message))
          break;
        if (step.kind == StageStep::send || step.kind == StageStep::recv) {
          started[stage].push_back(message);
          ++ends[message];
        }
        ++at[stage];
        goesOn = true;
      }
    for (const auto &queue : started)
      for (const Message &message : std::deque<Message>(queue))
        if (!moved.count(message) && mayMove(message)) {
          moved.insert(message);
          goesOn = true;
        }
    for (auto &queue : started)
      llvm::erase_if(queue, [&](const Message &message) { return moved.count(message) > 0; });
  }
  for (size_t stage = 0; stage < orders.size(); ++stage)
    if (at[stage] < orders[stage].steps.size())
      return "stage " + std::to_string(stage) + " hangs at step " + std::to_string(at[stage]) +
             " of " + orders[stage].toString();
  return "";
}

class SchedulesRandom : public TrainingTest {
protected:
  OwningOpRef<ModuleOp> apply(ModuleOp module, llvm::function_ref<void(OpPassManager &)> passes) {
    OwningOpRef<ModuleOp> made = module.clone();
    PassManager manager(&context);
    passes(manager);
    return succeeded(manager.run(*made)) ? std::move(made) : OwningOpRef<ModuleOp>();
  }

  /// The stages of a random program with pieces and kernels; null if microbatches cannot run the
  /// program or if it has too few ops for its chunks.
  OwningOpRef<ModuleOp> makeStages(uint32_t seed, int64_t stages, ScheduleKind kind,
                                   int64_t chunks) {
    const RandomTraining training = makeRandomTraining(seed);
    std::string errors;
    std::optional<PartitionCase> trial = makeStep(training, errors);
    if (!trial)
      return {};
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      llvm::raw_string_ostream(errors) << diagnostic << "\n";
      return success();
    });
    trial->mesh.axes.push_back("pipe=" + std::to_string(stages));
    OwningOpRef<ModuleOp> placed = place(*trial);
    if (!placed)
      return {};
    AssignStagesOptions assign;
    assign.schedule = nameOf(kind).str();
    assign.chunksPerStage = chunks;
    FormPiecesOptions pieces;
    pieces.splitsWeights = kind == ScheduleKind::zeroBubble;
    OwningOpRef<ModuleOp> made = apply(*placed, [&](OpPassManager &manager) {
      manager.addPass(createPartition());
      manager.addPass(createCanonicalizerPass());
      manager.addPass(createCSEPass());
      manager.addPass(createAssignStages(assign));
      manager.addPass(createCutStages());
      manager.addPass(createJoinMessages());
      manager.addPass(createVerifyStages());
    });
    if (!made)
      return {};
    for (dist::RankProgram program : dist::programsOf(*made)) {
      PassManager manager(&context);
      manager.addPass(createFormPieces(pieces));
      manager.addNestedPass<func::FuncOp>(createFormKernels());
      manager.addNestedPass<func::FuncOp>(createFreeOperands());
      if (failed(manager.run(program.module)))
        return {};
    }
    return made;
  }

  static std::vector<StageOrder> ordersOf(ModuleOp module) {
    std::vector<StageOrder> orders;
    for (dist::RankProgram program : dist::programsOf(module))
      program.module.walk([&](dist::MicroOp loop) {
        if (auto text = loop->getAttrOfType<StringAttr>(dist::DistDialect::kOrderAttrName))
          orders.push_back(llvm::cantFail(StageOrder::parse(text.getValue())));
      });
    return orders;
  }
};

TEST_F(SchedulesRandom, NeverHang) {
  const char *one = std::getenv("DPC_SEED");
  const uint32_t first = one ? std::atoi(one) : 0, count = one                       ? 1
                                                           : std::getenv("DPC_LONG") ? 3000
                                                                                     : 200;
  int scheduled = 0, limited = 0;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    std::mt19937 random(~seed);
    auto below = [&](int64_t limit) { return int64_t(random() % limit); };
    constexpr ScheduleKind kinds[] = {ScheduleKind::gpipe, ScheduleKind::oneForwardOneBackward,
                                      ScheduleKind::interleaved, ScheduleKind::zeroBubble};
    const ScheduleKind kind = kinds[below(4)];
    const int64_t stages = 2 + below(3), chunks = kind == ScheduleKind::interleaved  ? 1 + below(3)
                                                  : kind == ScheduleKind::zeroBubble ? 1 + below(2)
                                                                                     : 1;
    OwningOpRef<ModuleOp> made = makeStages(seed, stages, kind, chunks);
    if (!made)
      continue;
    SmallVector<int64_t> bytes; // options.heldBytes refers to it
    SchedulePipelineOptions options;
    options.schedule = nameOf(kind).str();
    options.overlap = below(4) > 0;
    // First without limits, and then with some between the least bytes and those without limits.
    for (bool limits : {false, true}) {
      OwningOpRef<ModuleOp> ordered = apply(
          *made, [&](OpPassManager &manager) { manager.addPass(createSchedulePipeline(options)); });
      ASSERT_TRUE(ordered) << "DPC_SEED=" << seed;
      const std::vector<StageOrder> orders = ordersOf(*ordered);
      for (bool onDevices : {false, true})
        EXPECT_EQ(play(orders, onDevices), "") << "DPC_SEED=" << seed << " devices " << onDevices;
      auto attr =
          (*ordered)->getAttrOfType<dist::PipelineAttr>(dist::DistDialect::kPipelineAttrName);
      if (!attr)
        break;
      ++(limits ? limited : scheduled);
      for (auto [stage, held] : llvm::enumerate(attr.getHeld().asArrayRef()))
        if (limits && options.heldBytes[stage] > 0) {
          EXPECT_LE(held, options.heldBytes[stage]) << "DPC_SEED=" << seed << " stage " << stage;
        }
      bytes.clear();
      for (auto [held, least] :
           llvm::zip_equal(attr.getHeld().asArrayRef(), attr.getLeast().asArrayRef())) {
        EXPECT_LE(least, held) << "DPC_SEED=" << seed;
        bytes.push_back(least + below(std::max<int64_t>(held - least, 1)));
      }
      options.heldBytes = bytes;
    }
  }
  if (!one) {
    EXPECT_GT(scheduled, int(count / 4));
    EXPECT_EQ(limited, scheduled);
  }
}

} // namespace

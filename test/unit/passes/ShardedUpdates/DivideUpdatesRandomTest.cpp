// Random training steps under random meshes, stages, axes and buckets: two steps and an
// evaluation give what they give undivided on one device.

#include "test/unit/passes/ShardedUpdates/RandomUpdates.h"
#include "test/unit/passes/ShardedUpdates/StepCheck.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Dist/IR/MicroLoop.h"
#include "dialects/NN/IR/Segments.h"
#include "dialects/NN/Partition/Partition.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {

/// Divides updates.
class DivisionCheck : public StepCheck {
public:
  explicit DivisionCheck(const Division &division) : division(division) {}

  std::string commandLine() const override {
    return std::string(kMakeLocal) + " " + division.commandLine();
  }

protected:
  void addPasses(ModuleOp, OpPassManager &manager) override {
    manager.addPass(division.createPass());
  }

  void count(ModuleOp local, ModuleOp divided) override {
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
      Division keepsNone = division;
      keepsNone.keepBytes = 0;
      OwningOpRef<ModuleOp> other =
          apply(local, [&](OpPassManager &manager) { manager.addPass(keepsNone.createPass()); });
      std::string texts[2];
      llvm::raw_string_ostream(texts[0]) << divided;
      llvm::raw_string_ostream(texts[1]) << *other;
      found["kept buckets"] = texts[0] != texts[1];
    }
    for (const auto &[what, isThere] : found)
      met[what] += isThere;
  }

private:
  const Division division;

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
};

TEST_F(DivideUpdatesRandom, ComputesTheSame) {
  int split = 0;
  RandomSeeds seeds;
  seeds.forEach([&](uint32_t seed) -> std::string {
    std::optional<PartitionCase> trial = makeCase(context, makeRandomUpdates(seed));
    if (!trial) {
      ADD_FAILURE() << "DPC_SEED=" << seed << "\n" << makeRandomUpdates(seed).text;
      return "no program";
    }
    std::mt19937 random(~seed); // other draws than the program's
    DivisionCheck check(Division(trial->mesh, random));
    if (seed % 10 == 1)
      split += hasSplits(*trial);
    return seeds.compare(check, *trial, seed);
  });
  if (!seeds.isOne()) {
    EXPECT_GE(split, seeds.getCount() / 300) << "too few programs in which idle ops are divided";
  }
  seeds.expectShares({{"storage", 2},
                      {"storage of several", 4},
                      {"reduce_scatter in a loop", 10},
                      {"all_gather in a loop", 10},
                      {"segment_sum", 5},
                      {"segment_fill", 20},
                      {"sum over other axes", 20},
                      {"taken gradient", 4},
                      {"kept buckets", 20}});
}

} // namespace

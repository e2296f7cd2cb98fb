#ifndef DPC_TEST_UNIT_PASSES_SHARDEDUPDATES_STEPCHECK_H
#define DPC_TEST_UNIT_PASSES_SHARDEDUPDATES_STEPCHECK_H

#include "test/unit/passes/Sharding/PartitionCheck.h"

#include "mlir/Pass/PassManager.h"

namespace dpc::test {

/// Options of dpc-divide-updates.
struct Division {
  int64_t stage = 0;
  std::vector<std::string> axes;
  int64_t firstBucketBytes = 64, bucketBytes = 64, keepBytes = 0, smallestBytes = -1;

  Division(const RandomMesh &mesh, std::mt19937 &random);

  std::unique_ptr<mlir::Pass> createPass() const;
  /// The pass on a command line.
  std::string commandLine() const;
};

/// The passes of a command line with which a program is partitioned, behind those that place it.
extern const char *const kMakeLocal;

/// Runs training steps on one device, and partitioned and changed by further passes on many,
/// and compares what they give: two steps on different rows and an evaluation.
class StepCheck {
public:
  virtual ~StepCheck() = default;

  /// "" if losses, outputs and state are alike, else what is wrong.
  std::string compare(const PartitionCase &trial);
  /// Fails the test that runs, as `trial` of `seed` gives what is `wrong`, and writes a small
  /// program that does so too to a file.
  void reportFailure(const PartitionCase &trial, uint32_t seed, llvm::StringRef wrong);

  /// Programs that microbatches cannot run.
  int refused = 0;
  /// Programs by what is in them.
  std::map<std::string, int> met;

protected:
  /// The passes behind those that place the program.
  virtual std::string commandLine() const = 0;
  /// Adds the passes that are checked, for a partitioned program.
  virtual void addPasses(mlir::ModuleOp local, mlir::OpPassManager &manager) = 0;
  /// Counts what is in the partitioned program, and in what the passes make of it.
  virtual void count(mlir::ModuleOp local, mlir::ModuleOp made) = 0;

  /// Runs `passes` on a copy of `module`; null, with errors, if one fails.
  static mlir::OwningOpRef<mlir::ModuleOp>
  apply(mlir::ModuleOp module, llvm::function_ref<void(mlir::OpPassManager &)> passes);
};

/// The programs of a test, by their seeds: 400, 6,000 with DPC_LONG, or the one of DPC_SEED;
/// until five have failed.
class RandomSeeds {
public:
  RandomSeeds();

  /// Calls `run` with each seed, which returns what its program failed with, if it did; and
  /// expects that no more than a tenth were refused.
  void forEach(llvm::function_ref<std::string(uint32_t)> run);
  /// Adds what `check` found of `trial`, and reports what is wrong with it; returns that.
  std::string compare(StepCheck &check, const PartitionCase &trial, uint32_t seed);
  /// Expects one program in so many with what is named, unless only one was run.
  void expectShares(llvm::ArrayRef<std::pair<const char *, int>> least) const;

  bool isOne() const { return count == 1; }
  int getCount() const { return count; }

private:
  uint32_t first = 0, count;
  int refused = 0;
  std::map<std::string, int> met;
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PASSES_SHARDEDUPDATES_STEPCHECK_H

#ifndef DPC_TEST_UNIT_PASSES_REMAT_TRAININGTEST_H
#define DPC_TEST_UNIT_PASSES_REMAT_TRAININGTEST_H

#include "test/unit/passes/Remat/RandomTraining.h"
#include "test/unit/passes/ShardedUpdates/StepCheck.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/Partition/Partition.h"
#include "passes/Autodiff/Passes.h"
#include "passes/Optimize/Passes.h"
#include "targets/CPU/CPUTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace dpc::test {

/// The context of tests with random networks, and their training steps.
class TrainingTest : public ::testing::Test {
protected:
  TrainingTest() : context(makeRegistry()) {
    context.disableMultithreading();
    context.loadDialect<nn::NNDialect, dist::DistDialect, mlir::func::FuncDialect>();
  }

  static mlir::DialectRegistry makeRegistry() {
    static const bool isRegistered = (registerCPUTarget(), true);
    (void)isRegistered;
    mlir::DialectRegistry registry;
    registerPartitionModels(registry);
    return registry;
  }

  /// The step of a network: its loss differentiated, its parameters updated. None, with the
  /// messages in `errors`, if that fails.
  std::optional<PartitionCase> makeStep(const RandomTraining &training, std::string &errors) {
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      llvm::raw_string_ostream(errors) << diagnostic << "\n";
      return mlir::success();
    });
    std::optional<PartitionCase> trial = makeCase(context, training.program);
    if (!trial)
      return std::nullopt;
    mlir::PassManager manager(&context);
    manager.addPass(mlir::createCanonicalizerPass());
    manager.addPass(mlir::createCSEPass());
    manager.addPass(createDifferentiate());
    ApplyOptimizerOptions options;
    options.optimizer = training.optimizer;
    options.clipGradNorm = training.clipGradNorm;
    manager.addPass(createApplyOptimizer(options));
    manager.addPass(mlir::createCanonicalizerPass());
    manager.addPass(mlir::createCSEPass());
    return mlir::succeeded(manager.run(*trial->module)) ? std::move(trial) : std::nullopt;
  }

  mlir::MLIRContext context;
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PASSES_REMAT_TRAININGTEST_H

// When buffers hold values, in programs of a few launches of one second each.

#include "passes/Play/ExecMemory.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dpc;

namespace {

/// Buffer 1 takes the place of buffer 0. Buffer 2 is written in parts, and used in a loop only.
constexpr llvm::StringLiteral kProgram = R"mlir(
exec.persistent @state.w #nn.arg<parameter "w"> arena at 0 : memref<16xf32>
func.func private @kernel.0(%x: tensor<16xf32>) -> tensor<16xf32>
exec.entry @step {
  exec.compute @step.0
  exec.loop 2 {
    exec.compute @step.1
  }
}
exec.function @step.0 piece 0 of @step {
  %w = exec.get @state.w : memref<16xf32>
  %0 = exec.buffer arena at 64 number 0 : memref<16xf32>
  %1 = exec.buffer arena at 64 number 1 : memref<16xf32>
  exec.launch @kernel.0(%w) into (%0) : (memref<16xf32>), (memref<16xf32>)
  exec.launch @kernel.0(%0) into (%1) : (memref<16xf32>), (memref<16xf32>)
}
exec.function @step.1 piece 1 of @step {
  %1 = exec.buffer arena at 64 number 1 : memref<16xf32>
  %2 = exec.buffer arena at 128 number 2 : memref<32xf32>
  %3 = exec.view %2 at 64 : memref<32xf32> to memref<16xf32>
  exec.launch @kernel.0(%1) into (%3) : (memref<16xf32>), (memref<16xf32>)
  exec.launch @kernel.0(%3) into (%3) : (memref<16xf32>), (memref<16xf32>)
}
)mlir";

class ExecMemory : public testing::Test {
protected:
  ExecMemory() {
    context.loadDialect<nn::NNDialect, dist::DistDialect, func::FuncDialect, exec::ExecDialect>();
    module = parseSourceString<ModuleOp>(kProgram, &context);
    play.problem.tables.resize(1);
    for (int64_t call : {0, 1, 1}) {
      PlayAction action;
      action.number = call;
      play.problem.tables[0].actions.push_back(action);
      rank.actions.push_back({rank.endSeconds, rank.endSeconds + 2, 0, 0});
      rank.endSeconds += 2;
    }
    PlayedFunction function;
    function.seconds = 1; // of the plan; the play takes 2 s
    function.kernels = {{"", KernelClass::product, 0.5}, {"", KernelClass::product, 0.5}};
    play.functions = {function, function};
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ExecPlay play;
  PlayedRank rank;
};

TEST_F(ExecMemory, LivesBeginWithWritesAndEndWithUses) {
  ASSERT_TRUE(module);
  const RankMemory memory = memoryOf(*module, "step", play, rank);
  ASSERT_EQ(memory.buffers.size(), 4u);
  EXPECT_EQ(memory.buffers[0].name, "w");
  EXPECT_EQ(memory.buffers[0].use, MemoryUse::parameters);
  EXPECT_EQ(memory.buffers[3].type, "f32[32]");
  EXPECT_EQ(memory.buffers[3].offset, 128);
  std::vector<std::tuple<size_t, double, double>> lives;
  for (const BufferLife &life : memory.lives)
    lives.push_back({life.buffer, life.begin, life.end});
  const std::vector<std::tuple<size_t, double, double>> expected = {
      {1, 0, 1}, // until buffer 1 takes its place
      {2, 1, 5}, // until the last iteration has read it
      {3, 2, 4},
      {3, 4, 6}}; // it holds nothing between the iterations
  EXPECT_EQ(lives, expected);
}

} // namespace

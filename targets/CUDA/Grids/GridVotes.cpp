// Loops in which the lanes of a warp look for numbers together.

#include "targets/CUDA/Grids/GridEmitter.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace dpc;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

/// Each lane looks at one of 32 consecutive numbers. A vote tells all lanes which numbers were
/// found, and the warp runs the body for these in order. Every warp of the block votes for itself,
/// so warps need no barrier: a thread does the same elements in each run of the body.
void GridEmitter::sequenceOfFound(int64_t extent, function_ref<Found(Index)> find,
                                  function_ref<void(Index, Index)> body) {
  const int64_t lanes = LaunchPlan::kWarp;
  if (level != Level::block || launch->threads % lanes != 0 || extent < lanes)
    return KernelEmitter::sequenceOfFound(extent, find, body);
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto number = [&](int64_t n) -> Value {
    return make<arith::ConstantOp>(builder.getI32IntegerAttr(static_cast<int32_t>(n)));
  };
  auto isFound = [&](bool value) -> Value {
    return make<arith::ConstantOp>(builder.getBoolAttr(value));
  };
  const Index lane = mod(thread, lanes);
  sequence(llvm::divideCeil(extent, lanes), [&](Index round) {
    const Index mine = round * lanes + lane;
    Value place = materialize(mine), chosen;
    {
      llvm::SaveAndRestore inside(level, Level::thread);
      chosen = branch(
          inRange(mine, 0, extent),
          [&] {
            Value condition = find(bind(place, 0, extent - 1)).condition;
            return condition ? condition : isFound(true);
          },
          [&] { return isFound(false); });
    }
    Value votes = make<NVVM::VoteBallotOp>(i32, number(-1), chosen);
    Value count = make<arith::ExtUIOp>(i64, make<LLVM::CtPopOp>(i32, votes));
    Value none = make<arith::ConstantOp>(builder.getI64IntegerAttr(0));
    loopBetween(none, count, lanes, votes, [&](Index, ValueRange left) {
      Value first = make<LLVM::CountTrailingZerosOp>(i32, left[0], false);
      Value chosenPlace =
          make<arith::AddIOp>(materialize(round * lanes), make<arith::ExtUIOp>(i64, first));
      const Index i = bind(chosenPlace, 0, extent - 1);
      body(i, find(i).index);
      // The lowest bit leaves.
      return Values{make<arith::AndIOp>(left[0], make<arith::SubIOp>(left[0], number(1)))};
    });
  });
}

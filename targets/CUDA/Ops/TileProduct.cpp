// Emits the sums of a tile of a product: the loop over slices of its factors, and the order
// in which threads fill and multiply them.

#include "targets/CUDA/Ops/TileProduct.h"

#include "targets/CUDA/Ops/MatrixUnit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

TileProduct::TileProduct(GridEmitter &emitter, ProductTypes types, const TileShape &shape,
                         SliceForms forms)
    : e(emitter), types(types), combiner(emitter, ReduceKind::sum, types.factor, types.result),
      shape(shape), zero(combiner.identity()),
      sums(TileSums::create(emitter, combiner, types, shape, forms)) {
  llvm::cantFail(shape.verify());
}

Slice TileProduct::makeSlice(int64_t extent, int64_t depth) const {
  return Slice(e, sums->getSliceType(), sums->layoutOf(extent, depth, /*depthIsInner=*/true));
}

/// Creates the slices of B, and those of A if there are any.
void TileProduct::createSlices(bool hasA) {
  if (sliceB)
    return;
  const SliceLayout ofB = sums->getLayoutOfB();
  if (!hasA) {
    sliceB = std::make_unique<Slice>(e, sums->getSliceType(), ofB, shape.stages);
    return;
  }
  // In one piece of memory, places of both slices differ by a constant.
  const SliceLayout ofA = sums->getLayoutOfA();
  const int64_t bytesOfA = ofA.getBytes() * shape.stages;
  Value memory = e.allocateInSharedSpace(bytesOfA + ofB.getBytes() * shape.stages);
  sliceA = std::make_unique<Slice>(e, sums->getSliceType(), ofA, memory, 0);
  sliceB = std::make_unique<Slice>(e, sums->getSliceType(), ofB, memory, bytesOfA);
}

SlicePart TileProduct::partOf(const Slice &slice, Value stage) const {
  return {slice, stage ? slice.offsetOfStage(stage) : Value(), e.constant(0)};
}

Values TileProduct::add(Index thread, const TileFactor &a, const TileFactor &b, Index first,
                        int64_t count, int64_t depth, ValueRange before) {
  createSlices(/*hasA=*/true);
  Slice &ofA = *sliceA, &ofB = *sliceB;
  const int64_t threads = shape.getThreads();
  SliceFill fills[] = {{e, sums->getFormOfA(), ofA, a, thread, depth, threads},
                       {e, *sums, ofB, b, thread, depth, threads}};
  const auto rounds = static_cast<int64_t>(llvm::divideCeil(count, shape.depth));
  return addInStages(fills, rounds, first, before, [&](Index, Value stage, ValueRange now) {
    return sums->add(thread, partOf(ofA, stage), partOf(ofB, stage), now);
  });
}

Values TileProduct::add(Index thread, const Slice &a, const TileFactor &b, Index first,
                        int64_t depth, ValueRange before) {
  createSlices(/*hasA=*/false);
  Slice &ofB = *sliceB;
  SliceFill fills[] = {{e, *sums, ofB, b, thread, depth, shape.getThreads()}};
  return addInStages(fills, a.layout.depth / shape.depth, first, before,
                     [&](Index round, Value stage, ValueRange now) {
                       return sums->add(thread, {a, Value(), round * shape.depth},
                                        partOf(ofB, stage), now);
                     });
}

static bool areCopied(ArrayRef<SliceFill> fills) {
  return llvm::any_of(fills, [](const SliceFill &fill) { return fill.isCopied(); });
}

/// Waits until the copies of this thread have arrived, except those of the last `pending`
/// groups.
static void waitForCopies(GridEmitter &e, ArrayRef<SliceFill> fills, int64_t pending) {
  if (areCopied(fills))
    e.make<NVVM::CpAsyncWaitGroupOp>(static_cast<uint32_t>(pending));
}

/// Fills and multiplies in turns, with one stage.
Values TileProduct::addInTurns(MutableArrayRef<SliceFill> fills, int64_t rounds, Index first,
                               ValueRange before, Multiply multiply) {
  return e.loop(rounds, before, [&](Index round, ValueRange carried) {
    for (SliceFill &fill : fills) {
      fill.begin(nullptr, first + round * shape.depth, nullptr);
      fill.end();
    }
    if (areCopied(fills))
      e.make<NVVM::CpAsyncCommitGroupOp>();
    waitForCopies(e, fills, 0);
    e.meet();
    Values added = multiply(round, nullptr, carried);
    // Wait until all threads have read the slices, because the next iteration
    // overwrites them.
    e.meet();
    return added;
  });
}

/// Multiplies one stage while the others are filled. One barrier per stage is enough: after it,
/// the stage is filled, and all threads have multiplied the stage that is filled next. An iteration
/// of the loop has all stages if a stage has little code, so that the numbers of stages are
/// constants.
Values TileProduct::addInStages(MutableArrayRef<SliceFill> fills, int64_t rounds, Index first,
                                ValueRange before, Multiply multiply) {
  const int64_t ahead = shape.stages - 1;
  if (ahead == 0)
    return addInTurns(fills, rounds, first, before, multiply);
  const bool isUnrolled = shape.unit != TileUnit::scalar;
  auto isAfterLast = [&](Index round) { return e.rangeOf(round).first >= rounds; };
  auto begin = [&](Index round, Value stage) {
    if (!isAfterLast(round)) {
      Value isNeeded = e.inRange(round, 0, rounds);
      if (isNeeded)
        round = e.bind(e.materialize(round), 0, rounds - 1);
      for (SliceFill &fill : fills)
        fill.begin(stage, first + round * shape.depth, isNeeded);
    } else if (isUnrolled) {
      return;
    }
    // In a loop, the threads form a group of copies even if they fill no stage, because they count
    // groups when they wait.
    if (areCopied(fills))
      e.make<NVVM::CpAsyncCommitGroupOp>();
  };
  auto end = [&] {
    for (SliceFill &fill : fills)
      fill.end();
  };
  auto add = [&](Index round, Value multiplied, Value filled, ValueRange now) {
    int64_t pending = ahead - 1;
    while (isUnrolled && isAfterLast(round + pending))
      --pending;
    waitForCopies(e, fills, pending);
    e.meet();
    begin(round + ahead, filled);
    Values next = multiply(round, multiplied, now);
    end();
    return next;
  };
  auto fillFirst = [&](Index stage) {
    begin(stage, e.materialize(stage));
    end();
  };
  if (isUnrolled)
    for (int64_t stage = 0; stage < ahead; ++stage)
      fillFirst(e.constant(stage));
  else
    e.sequence(ahead, fillFirst);
  Values state =
      isUnrolled ? addTogether(fills, rounds, before, add) : addOneByOne(rounds, before, add);
  // The last unrolled round has waited for all copies.
  if (!isUnrolled)
    waitForCopies(e, fills, 0);
  e.meet();
  return state;
}

/// One stage per iteration.
Values TileProduct::addOneByOne(int64_t rounds, ValueRange before, AddStage add) {
  // The numbers of stages have 32 bits, because the device has no arithmetic of 64 bits.
  auto number = [&](int64_t n) -> Value {
    return e.make<arith::ConstantOp>(e.builder.getI32IntegerAttr(static_cast<int32_t>(n)));
  };
  Value one = number(1), none = number(0), stages = number(shape.stages);
  auto following = [&](Value stage) -> Value {
    Value next = e.make<arith::AddIOp>(stage, one);
    Value isAfterLast = e.make<arith::CmpIOp>(arith::CmpIPredicate::eq, next, stages);
    return e.make<arith::SelectOp>(isAfterLast, none, next);
  };
  auto wide = [&](Value stage) -> Value {
    return e.make<arith::ExtUIOp>(e.builder.getI64Type(), stage);
  };
  const size_t count = before.size();
  Values state(before);
  llvm::append_values(state, none, number(shape.stages - 1));
  state = e.loop(rounds, state, [&](Index round, ValueRange carried) {
    Value multiplied = carried[count], filled = carried[count + 1];
    Values next = add(round, wide(multiplied), wide(filled), carried.take_front(count));
    llvm::append_values(next, following(multiplied), following(filled));
    return next;
  });
  state.truncate(count);
  return state;
}

/// All stages per iteration. The last rounds are not in the loop, so that every round in the loop
/// fills a stage, and addresses in memory differ by constants.
Values TileProduct::addTogether(MutableArrayRef<SliceFill> fills, int64_t rounds, ValueRange before,
                                AddStage add) {
  const int64_t stages = shape.stages;
  auto addStage = [&](Index round, int64_t stage, ValueRange now) {
    return add(round, e.materialize(e.constant(stage)),
               e.materialize(e.constant((stage + stages - 1) % stages)), now);
  };
  const int64_t groups = std::max<int64_t>(0, rounds / stages - 1);
  Values state = e.loop(groups, before, [&](Index group, ValueRange carried) {
    Values now(carried);
    for (int64_t stage = 0; stage < stages; ++stage)
      now = addStage(group * stages + stage, stage, now);
    return now;
  });
  const Index thread = e.readThreadAgain();
  for (SliceFill &fill : fills)
    fill.readAgain(thread);
  for (int64_t round = groups * stages; round < rounds; ++round)
    state = addStage(e.constant(round), round % stages, state);
  return state;
}

void TileProduct::forEachSum(Index thread, ValueRange made,
                             function_ref<void(int64_t, Index, Index, Value)> body) {
  for (auto [number, sum] : llvm::enumerate(made)) {
    auto [row, column] = sums->placeOf(thread, static_cast<int64_t>(number));
    body(static_cast<int64_t>(number), row, column, sum);
  }
}

void TileProduct::forEachPiece(Index thread, ValueRange made,
                               function_ref<void(Index, Index, ValueRange)> body) {
  const auto count = static_cast<size_t>(sums->countNeighbours());
  for (size_t first = 0; first < made.size(); first += count) {
    auto [row, column] = sums->placeOf(thread, static_cast<int64_t>(first));
    body(row, column, made.slice(first, count));
  }
}

Values TileProduct::narrow(ValueRange made) {
  if (MatrixUnit::isHalf(types.result) && made.size() % 2 == 0)
    return MatrixUnit::roundToHalves(e, types.result, made);
  Values narrowed;
  for (Value sum : made)
    narrowed.push_back(narrow(sum));
  return narrowed;
}

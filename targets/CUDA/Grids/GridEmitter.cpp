// Distributes the iterations of loops over the threads of a grid, and combines
// partial results of the threads of a block.

#include "targets/CUDA/Grids/GridEmitter.h"

#include "targets/CUDA/Grids/GridFill.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace dpc;

#include "targets/CUDA/Grids/GridFillOpInterface.cpp.inc"

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void GridEmitter::beginLaunch(const Launch &newLaunch, StringRef newSymbol) {
  enterScope();
  launch = &newLaunch;
  symbol = newSymbol;
  slots.clear();
  sharedBuffers = 0;
  level = Level::grid;
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  threadValue = make<arith::ExtUIOp>(i64, make<NVVM::ThreadIdXOp>(i32));
  blockValue = make<arith::ExtUIOp>(i64, make<NVVM::BlockIdXOp>(i32));
  thread = bind(threadValue, 0, launch->threads - 1);
  block = bind(blockValue, 0, launch->blocks - 1);
}

void GridEmitter::endLaunch() { leaveScope(); }

LogicalResult GridEmitter::emitJoint(unsigned ordinal) {
  part = 0;
  LogicalResult result = emitParts(launch->joined, 0, ordinal);
  part = 0;
  return result;
}

/// Emits `parts`, whose blocks begin with number `begin`. Each half of the parts is a branch, so
/// that a block finds its part after few comparisons.
LogicalResult GridEmitter::emitParts(ArrayRef<Launch> parts, int64_t begin, unsigned ordinal) {
  if (parts.size() > 1) {
    const size_t half = parts.size() / 2;
    int64_t middle = begin;
    for (const Launch &joined : parts.take_front(half))
      middle += joined.blocks;
    LogicalResult first = failure(), second = failure();
    Value isFirst =
        make<arith::CmpIOp>(arith::CmpIPredicate::slt, blockValue, materialize(constant(middle)));
    when(isFirst, [&] { first = emitParts(parts.take_front(half), begin, ordinal); });
    Value isSecond =
        make<arith::CmpIOp>(arith::CmpIPredicate::sge, blockValue, materialize(constant(middle)));
    when(isSecond, [&] { second = emitParts(parts.drop_front(half), middle, ordinal); });
    return success(succeeded(first) && succeeded(second));
  }
  llvm::SaveAndRestore joint(launch, &parts.front());
  llvm::SaveAndRestore first(firstBlock, begin);
  llvm::SaveAndRestore whole(block, bind(materialize(block - begin), 0, parts.front().blocks - 1));
  LogicalResult result = emitGroup(launch->group, ordinal);
  ++part;
  return result;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The multi-index of `shape` whose row-major number is `number`. Each position is
/// a variable of its own, as in nested loops, so that index expressions are
/// simplified as in nested loops.
SmallVector<Index> GridEmitter::positionsOf(Index number, ArrayRef<int64_t> shape) {
  SmallVector<Index> positions(shape.size(), constant(0));
  int64_t outer = ShapedType::getNumElements(shape);
  for (size_t d = shape.size(); d-- > 0;) {
    int64_t extent = shape[d];
    outer /= std::max<int64_t>(1, extent);
    if (extent == 1)
      continue;
    positions[d] = outer == 1 ? number : bind(materialize(mod(number, extent)), 0, extent - 1);
    if (outer == 1)
      break;
    number = bind(materialize(floorDiv(number, extent)), 0, outer - 1);
  }
  return positions;
}

/// Emits a loop that runs `body` for this thread's share of the numbers below
/// `count`. In each round, the threads of the block take consecutive numbers, so
/// that neighbouring threads access neighbouring elements.
Values GridEmitter::dealToBlock(int64_t count, ValueRange initial,
                                function_ref<Values(Index, ValueRange)> body) {
  int64_t threads = launch->getThreadsOfTeam(), rounds = llvm::divideCeil(count, threads);
  auto iteration = [&](Index round, ValueRange carried) {
    Value number = materialize(round * threads + thread);
    llvm::SaveAndRestore inside(level, Level::thread);
    return body(bind(number, 0, count - 1), carried);
  };
  if (count % threads == 0)
    return loop(rounds, initial, iteration);
  // Only some threads run the last round.
  Value first = materialize(constant(0));
  Value left = materialize(constant(count + threads - 1) - thread);
  Value own = make<arith::DivUIOp>(left, materialize(constant(threads)));
  return loopBetween(first, own, rounds, initial, iteration);
}

void GridEmitter::dealToGrid(int64_t count, function_ref<void(Index)> body) {
  Index place = block * launch->threads + thread;
  Value number = materialize(place);
  when(inRange(place, 0, count), [&] {
    llvm::SaveAndRestore inside(level, Level::thread);
    body(bind(number, 0, count - 1));
  });
}

/// Runs `body` for the element of this block, or of this thread's team. A team without an element
/// computes the last one, but does not store it, because all threads of a warp take part in its
/// shuffles.
void GridEmitter::forEachTeam(int64_t elements, function_ref<void(Index)> body) {
  llvm::SaveAndRestore inside(level, Level::block);
  if (launch->teams == 1)
    return body(block);
  const int64_t threads = launch->getThreadsOfTeam();
  const Index own = block * launch->teams + floorDiv(thread, threads);
  Value number = materialize(own), numberInTeam = materialize(mod(thread, threads));
  llvm::SaveAndRestore exists(isThere, inRange(own, 0, elements));
  if (isThere)
    number = make<arith::MinUIOp>(number, materialize(constant(elements - 1)));
  llvm::SaveAndRestore value(threadValue, numberInTeam);
  llvm::SaveAndRestore index(thread, bind(numberInTeam, 0, threads - 1));
  body(bind(number, 0, elements - 1));
}

void GridEmitter::forEach(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<Index>)> body,
                          Lanes lanes) {
  int64_t total = ShapedType::getNumElements(shape);
  if (total == 0)
    return;
  switch (level) {
  case Level::thread:
    return KernelEmitter::forEach(shape, body, lanes);
  case Level::block:
    dealToBlock(total, {}, [&](Index number, ValueRange) {
      body(positionsOf(number, shape));
      return Values();
    });
    return;
  case Level::grid:
    if (launch->kind == Launch::Kind::results)
      return forEachTeam(total, [&](Index element) { body(positionsOf(element, shape)); });
    return dealToGrid(total, [&](Index number) { body(positionsOf(number, shape)); });
  }
}

void GridEmitter::forEachRow(int64_t rows, function_ref<void(Index)> body) {
  if (level == Level::thread)
    return KernelEmitter::forEachRow(rows, body);
  if (rows == 1)
    return body(constant(0));
  if (launch->kind == Launch::Kind::elements)
    return dealToGrid(rows, body);
  llvm::SaveAndRestore inside(level, Level::block);
  if (launch->sums)
    return forEachRowOfBlock(rows, body);
  copyRow(block, rows);
  body(block);
}

void GridEmitter::forEachElement(const LoopNest &nest, function_ref<void(ArrayRef<Index>)> body) {
  if (level == Level::block && launch->together[getStage()]) {
    // Every thread runs all iterations. In each iteration, the threads share the
    // terms of the reduction.
    loop(nest.extents, {}, [&](ArrayRef<Index> index, ValueRange) {
      body(index);
      return Values();
    });
    return;
  }
  forEach(nest.extents, body);
}

/// Each thread computes pieces of neighbours, whose accesses LLVM joins. Pieces after the end of a
/// padded operand load their elements alone, but store them together. Elements after the last
/// complete piece of a row are pieces of their own.
void GridEmitter::forEachPiece(const LoopNest &nest,
                               function_ref<void(ArrayRef<Index>, int64_t)> body) {
  if (launch->kind == Launch::Kind::boxes)
    return forEachPieceOfBox(nest, body);
  const Launch::Pieces of = launch->getPieces(getStage());
  const int64_t lanes = of.elements;
  if (lanes == 1)
    return KernelEmitter::forEachPiece(nest, body);
  LoopNest pieces = nest;
  pieces.extents.back() = of.end.value_or(nest.extents.back()) / lanes;
  if (of.rows > 1)
    pieces.extents.rbegin()[1] /= of.rows;
  forEachElement(pieces, [&](ArrayRef<Index> index) {
    SmallVector<Index> first(index);
    first.back() = first.back() * lanes;
    body(first, lanes);
    for (int64_t row = 1; row < of.rows; ++row) {
      first.rbegin()[1] = first.rbegin()[1] + pieces.extents.rbegin()[1];
      body(first, lanes);
    }
  });
  const int64_t begin = pieces.extents.back() * lanes, left = nest.extents.back() - begin;
  if (left == 0)
    return;
  const int64_t ofRest = left % lanes == 0 ? lanes : 1;
  LoopNest rest = nest;
  rest.extents.back() = left / ofRest;
  forEachElement(rest, [&](ArrayRef<Index> index) {
    SmallVector<Index> own(index);
    own.back() = own.back() * ofRest + begin;
    body(own, ofRest);
  });
}

/// A tile is what storeFinal gets: a few elements.
void GridEmitter::forEachPieceOfTile(ArrayRef<int64_t> shape,
                                     function_ref<void(ArrayRef<SmallVector<Index>>)> body) {
  SmallVector<SmallVector<Index>> places;
  for (int64_t n = 0; n < shape[0]; ++n)
    places.push_back({constant(n)});
  body(places);
}

void GridEmitter::endStage() { meet(); }

void GridEmitter::emitFill(Operation *op) {
  if (GridFillOpInterface rule = payingGridFill(op))
    return rule.emitTiles(*this, launch->phase, nullptr);
  cast<FillOpInterface>(op).emitFill(*this, launch->parts);
}

void GridEmitter::emitTiles(Operation *op, FinishTile finish) {
  cast<GridFillOpInterface>(op).emitTiles(*this, launch->phase, finish);
}

void GridEmitter::forEachBlock(ArrayRef<int64_t> shape,
                               function_ref<void(ArrayRef<Index>, Index)> body) {
  llvm::SaveAndRestore inside(level, Level::block);
  body(positionsOf(block, shape), thread);
}

/// Reads a special register once more. LLVM cannot know that its value is the same.
static Value readAgain(GridEmitter &e, StringRef code) {
  Value number = e.make<LLVM::InlineAsmOp>(e.builder.getI32Type(), ValueRange(), code, "=r",
                                           /*has_side_effects=*/true, /*is_align_stack=*/false,
                                           LLVM::AsmDialectAttr(), ArrayAttr())
                     .getRes();
  return e.make<arith::ExtUIOp>(e.builder.getI64Type(), number);
}

Index GridEmitter::readThreadAgain() {
  return bind(readAgain(*this, "mov.u32 $0, %tid.x;"), 0, launch->threads - 1);
}

void GridEmitter::readBlockAgain(ArrayRef<int64_t> shape,
                                 function_ref<void(ArrayRef<Index>, Index)> body) {
  Value number = readAgain(*this, "mov.u32 $0, %ctaid.x;");
  if (firstBlock > 0)
    number = make<arith::SubIOp>(number, materialize(constant(firstBlock)));
  body(positionsOf(bind(number, 0, launch->blocks - 1), shape), readThreadAgain());
}

void GridEmitter::alone(Value condition, function_ref<void()> body) {
  llvm::SaveAndRestore inside(level, Level::thread);
  when(condition, body);
}

void GridEmitter::meet() {
  if (level == Level::block)
    barrier();
}

void GridEmitter::barrier() { make<NVVM::Barrier0Op>(); }

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

int64_t GridEmitter::getSumTerms() const {
  return KernelEmitter::getSumTerms() * (level == Level::block ? launch->getThreadsOfTeam() : 1);
}

// Partial results are combined in a fixed order. First, the lanes of a warp are
// combined: the values of both halves of the warp, then those of both halves of its
// first half, and so on. Then the results of the warps are combined one after the other.
Values GridEmitter::reduce(ArrayRef<int64_t> shape, ValueRange identity,
                           function_ref<Values(ArrayRef<Index>, ValueRange)> accumulate,
                           function_ref<Values(ValueRange, ValueRange)> combine) {
  int64_t total = ShapedType::getNumElements(shape);
  if (orderedSums || level != Level::block || total < kShortReduction)
    return loop(shape, identity, accumulate);
  Values mine = reduceInPieces(shape, identity, accumulate);
  if (launch->teams > 1)
    return combineTeam(mine, combine);
  return combineBlock(combineWarp(mine, combine), combine);
}

/// Accumulates this thread's share of the terms: pieces of neighbours, whose loads LLVM joins, and
/// terms after the last complete piece of a row.
Values GridEmitter::reduceInPieces(ArrayRef<int64_t> shape, ValueRange identity,
                                   function_ref<Values(ArrayRef<Index>, ValueRange)> accumulate) {
  const int64_t terms = launch->getPieces(getStage()).terms;
  const int64_t lanes = shape.back() >= terms ? terms : 1;
  SmallVector<int64_t> pieces(shape), rest(shape);
  pieces.back() /= lanes;
  const int64_t begin = pieces.back() * lanes;
  rest.back() -= begin;
  Values mine = dealToBlock(ShapedType::getNumElements(pieces), identity,
                            [&](Index number, ValueRange carried) {
                              SmallVector<Index> index = positionsOf(number, pieces);
                              const Index first = index.back() * lanes;
                              Values sums(carried);
                              for (int64_t n = 0; n < lanes; ++n) {
                                index.back() = first + n;
                                sums = accumulate(index, sums);
                              }
                              return sums;
                            });
  if (rest.back() == 0)
    return mine;
  return dealToBlock(ShapedType::getNumElements(rest), mine, [&](Index number, ValueRange carried) {
    SmallVector<Index> index = positionsOf(number, rest);
    index.back() = index.back() + begin;
    return accumulate(index, carried);
  });
}

/// Combines the values of all threads of a team, which all get the result.
Values GridEmitter::combineTeam(ValueRange mine,
                                function_ref<Values(ValueRange, ValueRange)> combine) {
  Values values(mine);
  for (int64_t distance = launch->getThreadsOfTeam() / 2; distance > 0; distance /= 2) {
    Values others;
    for (Value value : values)
      others.push_back(shuffle(value, static_cast<int>(distance), NVVM::ShflKind::bfly));
    values = combine(values, others);
  }
  return values;
}

/// Combines the values of all lanes of a warp. The first lane gets the result.
Values GridEmitter::combineWarp(ValueRange mine,
                                function_ref<Values(ValueRange, ValueRange)> combine) {
  Values values(mine);
  for (int distance = LaunchPlan::kWarp / 2; distance > 0; distance /= 2) {
    Values others;
    for (Value value : values)
      others.push_back(shuffle(value, distance, NVVM::ShflKind::down));
    values = combine(values, others);
  }
  return values;
}

Value GridEmitter::combineLanes(Value mine, int64_t lanes,
                                function_ref<Value(Value, Value)> combine) {
  for (int distance = static_cast<int>(lanes) / 2; distance > 0; distance /= 2)
    mine = combine(mine, shuffle(mine, distance, NVVM::ShflKind::bfly));
  return mine;
}

/// Combines the values of the first lanes of all warps. All threads of the block
/// get the result.
Values GridEmitter::combineBlock(ValueRange mine,
                                 function_ref<Values(ValueRange, ValueRange)> combine) {
  int64_t warps = launch->threads / LaunchPlan::kWarp;
  Values values;
  if (warps == 1) {
    for (Value value : mine)
      values.push_back(shuffle(value, 0, NVVM::ShflKind::idx));
    return values;
  }
  const int64_t kSlot = 8;
  int64_t bytes = kSlot * warps * static_cast<int64_t>(mine.size());
  Value &memory = slots[bytes];
  if (!memory) {
    // Allocate the memory at the start of the launch, so that all later reductions
    // of the launch can use it.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(blockValue);
    memory = allocateShared(bytes);
  }
  Index lane = mod(thread, LaunchPlan::kWarp), warp = floorDiv(thread, LaunchPlan::kWarp);
  auto slot = [&](size_t number, Index of) -> Value {
    Index at = (of + static_cast<int64_t>(number) * warps) * kSlot;
    return make<LLVM::GEPOp>(memory.getType(), builder.getI8Type(), memory,
                             ValueRange(materialize(at)), /*inbounds=*/true);
  };
  // Wait until all threads have read the results of the previous reduction.
  barrier();
  Value isFirst =
      make<arith::CmpIOp>(arith::CmpIPredicate::eq, materialize(lane), materialize(constant(0)));
  when(isFirst, [&] {
    for (auto [number, value] : llvm::enumerate(mine))
      make<LLVM::StoreOp>(value, slot(number, warp));
  });
  barrier();
  for (int64_t w = 0; w < warps; ++w) {
    Values others;
    for (auto [number, value] : llvm::enumerate(mine))
      others.push_back(make<LLVM::LoadOp>(value.getType(), slot(number, constant(w))));
    values = w == 0 ? others : combine(values, others);
  }
  return values;
}

/// The value that another lane of the warp has. `kind` says which lane: lane
/// `lane`, the own lane plus `lane`, or the own lane xor `lane`.
Values GridEmitter::elementsOf(Value vector) {
  Values elements;
  for (int64_t n = 0; n < cast<VectorType>(vector.getType()).getNumElements(); ++n)
    elements.push_back(make<LLVM::ExtractElementOp>(vector, materialize(constant(n))));
  return elements;
}

Value GridEmitter::shuffle(Value value, int lane, NVVM::ShflKind kind) {
  Type type = value.getType(), i32 = builder.getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  Type bitsType = builder.getIntegerType(width);
  auto number = [&](int64_t n) -> Value {
    return make<arith::ConstantOp>(builder.getI32IntegerAttr(static_cast<int32_t>(n)));
  };
  auto move = [&](Value bits) -> Value {
    return make<NVVM::ShflOp>(i32, number(-1), bits, number(lane), number(LaunchPlan::kWarp - 1),
                              kind, UnitAttr());
  };
  Value bits = type == bitsType ? value : make<arith::BitcastOp>(bitsType, value);
  if (width < 32) {
    bits = make<arith::TruncIOp>(bitsType, move(make<arith::ExtUIOp>(i32, bits)));
  } else if (width == 32) {
    bits = move(bits);
  } else {
    Value half = make<arith::ConstantOp>(builder.getI64IntegerAttr(32));
    Value low = move(make<arith::TruncIOp>(i32, bits));
    Value high = move(make<arith::TruncIOp>(i32, make<arith::ShRUIOp>(bits, half)));
    Value wideLow = make<arith::ExtUIOp>(bitsType, low),
          wideHigh = make<arith::ExtUIOp>(bitsType, high);
    bits = make<arith::OrIOp>(make<arith::ShLIOp>(wideHigh, half), wideLow);
  }
  return type == bitsType ? bits : make<arith::BitcastOp>(type, bits);
}

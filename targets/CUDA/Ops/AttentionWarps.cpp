// Emits the parts of attention kernels whose scores stay in registers: loads, the loop over
// tiles, exponentials and stores.

#include "targets/CUDA/Ops/AttentionWarps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

AttentionWarps::AttentionWarps(GridEmitter &emitter, const AttentionShape &shape, Type factorType,
                               const AttentionTiles &tiles, Value mask,
                               ArrayRef<int64_t> maskDimensions, double scale)
    : AttentionOperands(emitter, shape, factorType, mask, maskDimensions, scale), tiles(tiles) {}

void AttentionWarps::forEachBlock(function_ref<void(Index, Index)> body) {
  const auto rowTiles = static_cast<int64_t>(llvm::divideCeil(countOwn(), AttentionTiles::kRows));
  e.forEachBlock({shape.batches(), rowTiles, tiles.countColumns()},
                 [&](ArrayRef<Index> at, Index number) {
                   batch = at[0];
                   thread = number;
                   products.emplace(e, tiles.unit, factorType, thread);
                   body(at[1] * AttentionTiles::kRows, at[2]);
                 });
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

int64_t AttentionWarps::lengthOf(Value operand) const { return typeOf(operand).getShape().back(); }

// The own rows that are kept come first, then the numbers, then the stages. The other own
// rows lie in the memory of the stages until their fragments are loaded.
void AttentionWarps::loadOwn(ValueRange operands, Index firstRow) {
  Value memory = e.allocateInSharedSpace(tiles.getSharedBytes());
  int64_t place = 0;
  auto slice = [&](int64_t lines, int64_t elements, int64_t stages) {
    const SliceLayout layout = products->layoutOf(lines, elements);
    Slice made(e, factorType, layout, memory, place);
    place += layout.getBytes() * stages;
    return made;
  };
  const SmallVector<int64_t> depths = tiles.getOwnDepths();
  const auto kept = static_cast<size_t>(tiles.kept);
  for (int64_t elements : ArrayRef(depths).take_front(kept))
    own.push_back(slice(AttentionTiles::kRows, elements, 1));
  if (isKeyWork())
    numbers.emplace(e, elementType, SliceLayout{3, tiles.others, 4, /*depthIsInner=*/true}, memory,
                    place);
  place += tiles.getNumberBytes();
  const int64_t stages = place;
  for (int64_t elements : ArrayRef(depths).drop_front(kept))
    own.push_back(slice(AttentionTiles::kRows, elements, 1));
  place = stages;
  for (int64_t elements : tiles.getOtherDepths())
    others.push_back(slice(tiles.others, elements, AttentionTiles::kStages));

  SmallVector<SliceFill> fills;
  for (auto [operand, to] : llvm::zip_equal(operands, own))
    fills.emplace_back(e, *products, to, rowsOf(operand, firstRow, countOwn()), thread,
                       lengthOf(operand), AttentionTiles::kThreads);
  for (SliceFill &fill : fills)
    fill.begin(nullptr, e.constant(0), nullptr);
  for (SliceFill &fill : fills)
    fill.end();
  e.make<NVVM::CpAsyncCommitGroupOp>();
  e.make<NVVM::CpAsyncWaitGroupOp>(uint32_t(0));
  for (SliceFill &fill : fills)
    fill.round(nullptr);
  e.meet();
  const Index firstOfWarp = e.floorDiv(thread, LaunchPlan::kWarp) * WarpProduct::kRows;
  for (auto [number, from] : llvm::enumerate(own)) {
    ownSources.push_back(products->rowsOf(from, firstOfWarp));
    ownFragments.push_back(number < kept ? WarpProduct::Fragments()
                                         : products->loadRows(ownSources.back()));
  }
  // Wait until all threads have their fragments, because the stages are filled now.
  e.meet();
}

SliceFill AttentionWarps::fillOf(const Loop &work, int64_t number, Index firstRow) {
  Value operand = work.operands[number];
  return SliceFill(e, *products, others[static_cast<size_t>(number)],
                   rowsOf(operand, firstRow, countOthers()), thread, lengthOf(operand),
                   AttentionTiles::kThreads);
}

/// Own queries see all keys of the first tiles, and own keys are seen by all queries of the last
/// tiles.
AttentionWarps::Range AttentionWarps::rangeOf(Index firstRow) {
  const int64_t count = countOthers() / tiles.others; // of complete tiles
  auto constant = [&](int64_t n) { return e.materialize(e.constant(n)); };
  if (isKeyWork()) {
    Value all = constant(static_cast<int64_t>(llvm::divideCeil(countOthers(), tiles.others)));
    Range range{firstOfQueries(firstRow, tiles.others), {}, all, /*isFirstWhole=*/!shape.causal};
    if (shape.causal && !mask) {
      const Index last = firstRow + (AttentionTiles::kRows - 1 - shape.offset());
      Value seeing = e.make<arith::MaxSIOp>(e.materialize(last), constant(0));
      Value tile = e.make<arith::DivUIOp>(e.make<arith::AddIOp>(seeing, constant(tiles.others - 1)),
                                          constant(tiles.others));
      range.middle = e.make<arith::MinSIOp>(tile, all);
    }
    return range;
  }
  Range range{constant(0),
              {},
              endOfKeys(firstRow, AttentionTiles::kRows, tiles.others),
              /*isFirstWhole=*/true};
  if (mask)
    return range;
  if (shape.causal)
    range.middle = e.make<arith::MinSIOp>(
        e.materialize(e.floorDiv(firstRow + (1 + shape.offset()), tiles.others)), constant(count));
  else if (countOthers() % tiles.others != 0)
    range.middle = constant(count);
  return range;
}

// The copies of both operands of a tile are groups of their own. While a part of a tile is
// multiplied, the copies of two parts are under way: the next part of this tile, and the same part
// of the next tile.
Values AttentionWarps::loop(const Loop &work, Index firstRow, ValueRange before) {
  const auto count = static_cast<int64_t>(llvm::divideCeil(countOthers(), tiles.others));
  // The numbers of stages and tiles have 32 bits where they stay in registers.
  const Type word = e.builder.getI32Type();
  Value one = e.make<arith::ConstantOp>(e.builder.getI32IntegerAttr(1)),
        none = e.materialize(e.constant(0));
  auto begin = [&](int64_t number, Index tile, Value stage, Value isNeeded) {
    SliceFill fill = fillOf(work, number, tile * tiles.others);
    fill.begin(stage, work.firstElements[number], isNeeded);
    e.make<NVVM::CpAsyncCommitGroupOp>();
    return fill;
  };
  auto wait = [&](int64_t number, Value stage, uint32_t pending) {
    e.make<NVVM::CpAsyncWaitGroupOp>(pending);
    fillOf(work, number, e.constant(0)).round(stage);
    e.meet();
  };
  const Range range = rangeOf(firstRow);
  const Index firstTile = e.bind(range.first, 0, count - 1);
  if (work.begin) {
    work.begin(firstTile * tiles.others, nullptr);
    work.end(none);
  }
  for (int64_t number : {0, 1})
    begin(number, firstTile, none, nullptr).end();
  Values state(before);
  const size_t sums = state.size();
  state.push_back(e.make<arith::ConstantOp>(e.builder.getI32IntegerAttr(0)));
  Value end = e.make<arith::TruncIOp>(word, range.end);
  auto wide = [&](Value stage) -> Value {
    return e.make<arith::ExtUIOp>(e.builder.getI64Type(), stage);
  };
  auto add = [&](Index tile, ValueRange carried) {
    Value following = e.make<arith::SubIOp>(one, carried[sums]), stage = wide(carried[sums]),
          nextStage = wide(following);
    ValueRange now = carried.take_front(sums);
    Value next = e.materialize(tile + 1),
          isNeeded = e.make<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                           e.make<arith::TruncIOp>(word, next), end);
    const Index nextTile = e.bind(next, 0, count - 1), row = tile * tiles.others;
    wait(0, stage, 1);
    SliceFill fillFirst = begin(0, nextTile, nextStage, isNeeded);
    if (work.begin)
      work.begin(nextTile * tiles.others, isNeeded);
    work.addFirst(row, stage, now);
    fillFirst.end();
    wait(1, stage, 1);
    SliceFill fillSecond = begin(1, nextTile, nextStage, isNeeded);
    Values added = work.addSecond(row, stage, now);
    fillSecond.end();
    if (work.end)
      work.end(nextStage);
    added.push_back(following);
    return added;
  };
  isWhole = range.isFirstWhole;
  state = e.loopBetween(range.first, range.middle ? range.middle : range.end, count, state, add);
  if (range.middle) {
    isWhole = !isWhole;
    state = e.loopBetween(range.middle, range.end, count, state, add);
  }
  e.make<NVVM::CpAsyncWaitGroupOp>(uint32_t(0));
  state.truncate(sums);
  return state;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Values AttentionWarps::multiply(int64_t ownNumber, int64_t other, Value stage) const {
  const auto number = static_cast<size_t>(ownNumber);
  const Slice &slice = others[static_cast<size_t>(other)];
  return products->addColumns(
      [&](int64_t step) {
        return ownFragments[number].empty() ? products->loadRows(ownSources[number], step)
                                            : ownFragments[number][static_cast<size_t>(step)];
      },
      products->columnsOf(slice), slice.offsetOfStage(stage), products->getZeros(tiles.others));
}

Values AttentionWarps::addWeighted(ValueRange weights, int64_t other, Index firstColumn,
                                   int64_t columns, Value stage, ValueRange sums) const {
  const Slice &slice = others[static_cast<size_t>(other)];
  return products->addDepth(products->toFactor(weights),
                            products->depthOf(slice, firstColumn, columns),
                            slice.offsetOfStage(stage), sums);
}

Index AttentionWarps::ownRow(Index firstRow, int64_t number) const {
  return firstRow + e.floorDiv(thread, LaunchPlan::kWarp) * WarpProduct::kRows +
         products->getRow(number);
}

// Two lanes whose numbers differ in the bit `distance` exchange values like the elements of a
// matrix that is transposed. Afterwards the lower lane has `first` of both lanes, and the upper one
// has `second` of both.
static void transposeLanes(GridEmitter &e, LoopEmitter::Index thread, int distance, Value &first,
                           Value &second) {
  Value isUpper = e.inRange(e.mod(e.floorDiv(thread, distance), 2), 1, 2);
  Value sent = e.make<arith::SelectOp>(isUpper, first, second), got = e.exchange(sent, distance);
  Value low = e.make<arith::SelectOp>(isUpper, got, first);
  second = e.make<arith::SelectOp>(isUpper, second, got);
  first = low;
}

// A lane of a quad has a pair of columns of each of four matrices. Afterwards it has all columns of
// one of them.
static void transposePairs(GridEmitter &e, LoopEmitter::Index thread,
                           MutableArrayRef<Value> pairs) {
  for (int distance : {1, 2})
    for (size_t first = 0; first < pairs.size(); ++first)
      if (!(first & static_cast<size_t>(distance)))
        transposeLanes(e, thread, distance, pairs[first],
                       pairs[first + static_cast<size_t>(distance)]);
}

// A lane of a quad has two columns of each of four matrices, two elements after the other.
// Afterwards it has four neighbours of the row of the lower quad of two, and then as many of the
// row of the upper one. The lanes of both quads together have the 32 columns of a row.
static void transposeQuads(GridEmitter &e, LoopEmitter::Index thread,
                           MutableArrayRef<Value> elements) {
  for (size_t n : {0, 1, 4, 5}) // of matrices 0 and 2, which are exchanged with 1 and 3
    transposeLanes(e, thread, 1, elements[n], elements[n + 2]);
  for (size_t n : {0, 1, 2, 3})
    transposeLanes(e, thread, 4, elements[n], elements[n + 4]);
}

void AttentionWarps::store(Value result, Index firstRow, Index firstColumn, int64_t elements,
                           ValueRange sums, function_ref<Value(int64_t, Value)> finish) {
  constexpr int64_t kQuad = 4, kOfMatrix = 8; // lanes and columns
  const Type type = typeOf(result).getElementType();
  const int64_t columns =
      static_cast<int64_t>(sums.size()) * LaunchPlan::kWarp / WarpProduct::kRows;
  auto put = [&](Index row, Index first, ArrayRef<Value> made) {
    const auto count = static_cast<int64_t>(made.size());
    // Neighbours that are all there or none are stored together.
    const int64_t together = elements % count == 0 ? count : 1;
    for (int64_t n = 0; n < count; n += together)
      e.alone(e.both(isThere(row, countOwn()), isThere(first + n, elements)), [&] {
        const Index to = known(row, countOwn()), place = known(first + n, elements);
        for (int64_t i = 0; i < together; ++i)
          e.store(result, made[static_cast<size_t>(n + i)], numberIn(result, to, place + i));
      });
  };
  const bool exchanges = (MatrixUnit::isHalf(type) || type.isF32()) && elements % kOfMatrix == 0 &&
                         columns % (kQuad * kOfMatrix) == 0;
  SmallVector<Value> pairs; // of the matrices that are exchanged next
  int64_t begin = 0;        // their first column
  products->forEachPiece(columns, sums, [&](int64_t number, Index column, ValueRange piece) {
    const Index row = ownRow(firstRow, number);
    Values made;
    for (Value sum : piece)
      made.push_back(finish(number, sum));
    if (!exchanges || made.size() != 2) {
      if (MatrixUnit::isHalf(type))
        made = MatrixUnit::roundToHalves(e, type, made);
      return put(row, firstColumn + column, made);
    }
    if (type.isF32()) {
      llvm::append_range(pairs, made);
      if (pairs.size() < static_cast<size_t>(2 * kQuad))
        return;
      transposeQuads(e, thread, pairs);
      const Index inQuad = e.mod(thread, kQuad), quad = e.mod(e.floorDiv(thread, kQuad), 2);
      const Index own = firstColumn + begin + quad * (2 * kOfMatrix) +
                        e.mod(inQuad, 2) * kOfMatrix + e.floorDiv(inQuad, 2) * kQuad;
      for (int64_t n : {0, 1})
        put(row - quad + n, own, ArrayRef(pairs).slice(static_cast<size_t>(n * kQuad), kQuad));
      pairs.clear();
      begin = (begin + kQuad * kOfMatrix) % columns;
      return;
    }
    const Type bits = e.builder.getI32Type();
    Value pair = MatrixUnit::packHalves(e, type, made[0], made[1]);
    pairs.push_back(e.make<LLVM::BitcastOp>(bits, pair));
    if (pairs.size() < static_cast<size_t>(kQuad))
      return;
    transposePairs(e, thread, pairs);
    made.clear();
    for (Value each : pairs)
      llvm::append_range(made, e.elementsOf(e.make<LLVM::BitcastOp>(pair.getType(), each)));
    put(row, firstColumn + e.mod(thread, kQuad) * kOfMatrix + begin, made);
    pairs.clear();
    begin = (begin + kQuad * kOfMatrix) % columns;
  });
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

Value AttentionWarps::add(Value x, Value y) { return e.make<arith::AddFOp>(x, y); }
Value AttentionWarps::subtract(Value x, Value y) { return e.make<arith::SubFOp>(x, y); }
Value AttentionWarps::times(Value x, Value y) { return e.make<arith::MulFOp>(x, y); }
Value AttentionWarps::inverse(Value x) { return e.make<arith::DivFOp>(number(1), x); }
// It may drop a NaN, but then the sum of the exponentials will be NaN.
Value AttentionWarps::largest(Value x, Value y) { return e.make<arith::MaxNumFOp>(x, y); }

double AttentionWarps::getUnit() const {
  return llvm::numbers::log2e * (hasPlainExponents() ? scale : 1);
}

Value AttentionWarps::exponentOf(Value product, Index query, Index key) {
  if (mask)
    return score(product, query, key);
  Value exponent = hasPlainExponents() ? product : times(product, number(scale));
  if (isWhole)
    return exponent;
  // Products of queries that are not there have no effect.
  Value isSeen = isThere(key, isKeyWork() ? std::numeric_limits<int32_t>::max() : shape.keys);
  if (shape.causal)
    isSeen = e.both(isSeen,
                    e.inRange(query - key, -shape.offset(), std::numeric_limits<int32_t>::max()));
  if (!isSeen)
    return exponent;
  return select(isSeen, exponent, number(-std::numeric_limits<double>::infinity()));
}

// Without a mask, exponents are not larger than products of rows, so that one multiplication and
// addition is precise enough. A mask may have numbers whose rounding would be larger than the
// difference of two scores.
Value AttentionWarps::baseOf(Value exponent) {
  return hasPlainExponents() ? times(exponent, number(-getUnit())) : exponent;
}

Value AttentionWarps::baseOfLogarithm(Value logarithm) {
  return hasPlainExponents() ? times(logarithm, number(-llvm::numbers::log2e)) : logarithm;
}

Value AttentionWarps::power(Value exponent, Value base) {
  Value unit = number(getUnit());
  Value x = hasPlainExponents() ? e.make<LLVM::FMAOp>(exponent, unit, base).getResult()
                                : times(subtract(exponent, base), unit);
  return e
      .make<LLVM::CallIntrinsicOp>(
          elementType, e.builder.getStringAttr("llvm.nvvm.ex2.approx.ftz.f"), ValueRange(x))
      .getResult(0);
}

// Emits sums over columns (ColumnSums): the part of each block, and the launch that adds up the
// parts.

#include "targets/CUDA/Grids/DividedTerms.h"
#include "targets/CUDA/Grids/GridEmitter.h"

#include "dialects/NN/IR/Shape.h"
#include "targets/Loops/Combiner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace dpc;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

/// The place, among the partial sums of a block, of the column `n` after `first`. A thread adds to
/// `first` and its neighbours.
static Index placeOfColumn(GridEmitter &e, const ColumnSums &sums, Index first, int64_t n) {
  const int64_t vector = sums.getVector(), vectors = sums.neighbours / vector;
  if (vectors == 1)
    return first + n;
  return e.floorDiv(first, sums.neighbours) * vector +
         (n / vector * (sums.columns / vectors) + n % vector);
}

/// The inverse of placeOfColumn: the column of a place.
static Index columnOfPlace(GridEmitter &e, const ColumnSums &sums, Index place) {
  const int64_t vector = sums.getVector(), vectors = sums.neighbours / vector,
                ofVector = sums.columns / vectors;
  if (vectors == 1)
    return place;
  const Index ofThreads = e.mod(place, ofVector);
  return e.floorDiv(ofThreads, vector) * sums.neighbours + e.floorDiv(place, ofVector) * vector +
         e.mod(ofThreads, vector);
}

/// Runs `body` for the rows of this block, which add to its sums. Then stores the sums of the
/// block: those of all blocks for the first sum come first, then those for the second, and so on.
void GridEmitter::forEachRowOfBlock(int64_t rows, function_ref<void(Index)> body) {
  const ColumnSums &sums = *launch->sums;
  const int64_t columns = sums.columns, count = static_cast<int64_t>(sums.sums.size()),
                blocks = launch->blocks, ofBlock = sums.rowsPerBlock;
  const Type type = sums.getPartialType();
  columnTotals = allocateInSharedSpace(sums.getSharedBytes());
  Value zero = constantLike(type, 0);
  dealToBlock(count * columns, {}, [&](Index number, ValueRange) {
    storeAt(columnTotals, zero, number);
    return Values();
  });
  barrier();
  Value first = materialize(constant(0)), own = materialize(constant(ofBlock));
  if (rows % ofBlock != 0)
    own = make<arith::MinUIOp>(own, materialize(constant(rows) - block * ofBlock));
  loopBetween(first, own, ofBlock, {}, [&](Index number, ValueRange) {
    body(bind(materialize(block * ofBlock + number), 0, rows - 1));
    // The next row takes the place of this one.
    if (!launch->shared.empty())
      barrier();
    return Values();
  });
  barrier();
  dealToBlock(columns, {}, [&](Index place, ValueRange) {
    for (int64_t n = 0; n < count; ++n)
      storeAt(phaseScratch, loadAt(columnTotals, type, place + n * columns),
              (block + n * blocks) * columns + place);
    return Values();
  });
}

/// Adds elements to the sums of the block. The threads of a block share the elements of all rows
/// in the same way, so no other thread adds to the same columns.
void GridEmitter::useElements(ArrayRef<Index> numbers,
                              function_ref<Value(Value, size_t)> elementOf) {
  if (!launch->sums || getStage() != launch->sums->stage)
    return;
  const int64_t columns = launch->sums->columns;
  const Index column = mod(numbers.front(), columns);
  SmallVector<std::pair<Index, Value>> totals;
  for (size_t n = 0; n < launch->sums->sums.size(); ++n) {
    nn::ReduceOp sum = launch->sums->sums[n];
    Combiner combiner(*this, sum.getKind(), nn::typeOf(sum.getInput()).getElementType());
    for (size_t i = 0; i < numbers.size(); ++i) {
      const Index place = placeOfColumn(*this, *launch->sums, column, static_cast<int64_t>(i)) +
                          static_cast<int64_t>(n) * columns;
      Value old = loadAt(columnTotals, launch->sums->getPartialType(), place);
      totals.push_back(
          {place, combiner.combine(old, combiner.widen(elementOf(sum.getInput(), i)))});
    }
  }
  for (auto [place, total] : totals)
    storeAt(columnTotals, total, place);
}

void GridEmitter::emitSums(unsigned ordinal) {
  const ColumnSums &sums = *launch->sums;
  const int64_t columns = sums.columns, blocks = sums.countBlocks(),
                outer = static_cast<int64_t>(sums.sums.size());
  const Type partial = sums.getPartialType();
  const Type total = Float64Type::get(builder.getContext());
  auto read = [&](Index result, Index part) -> Value {
    const Index sum = floorDiv(result, columns), place = mod(result, columns);
    Value term = loadAt(phaseScratch, partial, (sum * blocks + part) * columns + place);
    return partial == total ? term : make<arith::ExtFOp>(total, term);
  };
  auto take = [&](Index, Index result, Value made) {
    if (partial != total)
      made = make<arith::TruncFOp>(partial, made);
    for (size_t number = 0; number < sums.sums.size(); ++number) {
      nn::ReduceOp sum = sums.sums[number];
      Combiner element(*this, sum.getKind(), nn::typeOf(sum.getInput()).getElementType());
      const int64_t begin = static_cast<int64_t>(number) * columns;
      when(inRange(result, begin, begin + columns), [&] {
        store(sum.getResult(), element.narrow(made),
              columnOfPlace(*this, sums, mod(result, columns)));
      });
    }
  };
  fillAs(ordinal, [&] {
    combineDivided(
        *this,
        {nn::ReduceKind::sum, total, /*shares=*/1, outer, columns, ColumnSums::kColumnsPerBlock,
         blocks},
        [&](size_t, Index result, Index part, int64_t) { return read(result, part); },
        [&](size_t, Index share, Index result, Value made) { take(share, result, made); });
  });
}

// Combines the terms of results that several threads or blocks share.

#include "targets/CUDA/Grids/DividedTerms.h"

#include "targets/Loops/Combiner.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

void dpc::combineDivided(GridEmitter &e, const DividedTerms &terms,
                         function_ref<Value(Index result, Index term)> read,
                         function_ref<void(Index share, Index result, Value total)> take) {
  Combiner combiner(e, terms.kind, terms.type);
  const int64_t lanes = terms.lanes, inner = terms.inner, count = terms.count,
                threads = LaunchPlan::kMaxThreads / lanes,
                share = llvm::alignTo(llvm::divideCeil(count, terms.shares), threads),
                rounds = share / threads, columnTiles = llvm::divideCeil(inner, lanes);
  e.forEachBlock({terms.shares, terms.outer, columnTiles}, [&](ArrayRef<Index> at, Index thread) {
    const Index column = at[2] * lanes + e.mod(thread, lanes),
                first = at[0] * share + e.floorDiv(thread, lanes);
    Value isInside = e.inRange(column, 0, inner), columnPlace = e.materialize(column);
    const Index ownColumn = e.bind(columnPlace, 0, inner - 1), result = at[1] * inner + ownColumn;
    // Compute the number of terms of this thread.
    Value own = e.materialize(e.constant(rounds)), none = e.materialize(e.constant(0));
    if (share * terms.shares != count) {
      Value left = e.materialize(e.constant(count + threads - 1) - first);
      Value some = e.make<arith::DivUIOp>(e.make<arith::MaxSIOp>(left, none),
                                          e.materialize(e.constant(threads)));
      own = e.make<arith::MinUIOp>(some, own);
    }
    if (isInside)
      own = e.make<arith::SelectOp>(isInside, own, none);
    Value mine;
    e.alone(Value(), [&] {
      mine = e.loopBetween(none, own, rounds, combiner.identity(),
                           [&](Index round, ValueRange carried) {
                             Value number = e.materialize(first + round * threads);
                             Value term = read(result, e.bind(number, 0, count - 1));
                             return Values{combiner.combine(carried[0], term)};
                           })[0];
    });
    if (threads == 1)
      return e.alone(isInside, [&] { take(at[0], result, mine); });
    const int64_t bytes = llvm::divideCeil(mine.getType().getIntOrFloatBitWidth(), 8);
    Value shared = e.getScratch(LaunchPlan::kMaxThreads * bytes);
    e.storeAt(shared, mine, thread);
    for (int64_t half = LaunchPlan::kMaxThreads / 2; half >= lanes; half /= 2) {
      e.meet();
      e.alone(e.inRange(thread, 0, half), [&] {
        Value other = e.loadAt(shared, mine.getType(), thread + half),
              both = combiner.combine(e.loadAt(shared, mine.getType(), thread), other);
        e.storeAt(shared, both, thread);
      });
    }
    e.alone(e.both(e.inRange(thread, 0, lanes), isInside),
            [&] { take(at[0], result, e.loadAt(shared, combiner.identity().getType(), thread)); });
  });
}

// Combines the terms of results that several threads or blocks share.

#include "targets/CUDA/Grids/DividedTerms.h"

#include "targets/Loops/Combiner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

void dpc::combineDivided(GridEmitter &e, const DividedTerms &terms,
                         function_ref<Value(size_t, Index result, Index first, int64_t after)> read,
                         function_ref<void(size_t, Index share, Index result, Value total)> take,
                         function_ref<void(ArrayRef<Index> results)> finish) {
  Combiner combiner(e, terms.kind, terms.type);
  const int64_t lanes = terms.lanes, wide = terms.wide, pieces = terms.inner / wide,
                count = terms.count / terms.run, threads = LaunchPlan::kMaxThreads / lanes,
                share = llvm::alignTo(llvm::divideCeil(count, terms.shares), threads),
                rounds = share / threads, columnTiles = llvm::divideCeil(pieces, lanes);
  e.forEachBlock({terms.shares, terms.outer, columnTiles}, [&](ArrayRef<Index> at, Index thread) {
    const Index piece = at[2] * lanes + e.mod(thread, lanes),
                first = at[0] * share + e.floorDiv(thread, lanes);
    Value isInside = e.inRange(piece, 0, pieces), piecePlace = e.materialize(piece);
    const Index result = at[1] * terms.inner + e.bind(piecePlace, 0, pieces - 1) * wide;
    // A thread has the neighbours of one reduction after those of another.
    const auto neighbours = static_cast<size_t>(wide);
    auto resultOf = [&](size_t n) { return result + static_cast<int64_t>(n % neighbours); };
    // Compute the number of runs of this thread.
    Value own = e.materialize(e.constant(rounds)), none = e.materialize(e.constant(0));
    if (share * terms.shares != count) {
      Value left = e.materialize(e.constant(count + threads - 1) - first);
      Value some = e.make<arith::DivUIOp>(e.make<arith::MaxSIOp>(left, none),
                                          e.materialize(e.constant(threads)));
      own = e.make<arith::MinUIOp>(some, own);
    }
    if (isInside)
      own = e.make<arith::SelectOp>(isInside, own, none);
    Values mine;
    e.alone(Value(), [&] {
      const Values identities(static_cast<size_t>(terms.reductions * wide), combiner.identity());
      mine = e.loopBetween(none, own, rounds, identities, [&](Index round, ValueRange carried) {
        Value number = e.materialize(first + round * threads);
        const Index term = e.bind(number, 0, count - 1) * terms.run;
        Values next(carried);
        for (int64_t after = 0; after < terms.run; ++after)
          for (auto [n, value] : llvm::enumerate(next))
            value = combiner.combine(value, read(n / neighbours, resultOf(n), term, after));
        return next;
      });
    });
    auto takeAll = [&](function_ref<Value(size_t)> total) {
      for (size_t n = 0; n < mine.size(); ++n)
        take(n / neighbours, at[0], resultOf(n), total(n));
      SmallVector<Index> results;
      for (size_t n = 0; n < neighbours; ++n)
        results.push_back(resultOf(n));
      if (finish)
        finish(results);
    };
    if (threads == 1)
      return e.alone(isInside, [&] { takeAll([&](size_t n) { return mine[n]; }); });
    const Type type = mine[0].getType();
    const int64_t bytes = llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
    // The values of all threads for one result of a thread follow those for another.
    Value shared = e.getScratch(LaunchPlan::kMaxThreads * terms.reductions * wide * bytes);
    auto placeOf = [&](size_t n, Index of) {
      return of + static_cast<int64_t>(n) * LaunchPlan::kMaxThreads;
    };
    for (auto [n, value] : llvm::enumerate(mine))
      e.storeAt(shared, value, placeOf(n, thread));
    for (int64_t half = LaunchPlan::kMaxThreads / 2; half >= lanes; half /= 2) {
      e.meet();
      e.alone(e.inRange(thread, 0, half), [&] {
        for (size_t n = 0; n < mine.size(); ++n) {
          Value other = e.loadAt(shared, type, placeOf(n, thread + half)),
                both = combiner.combine(e.loadAt(shared, type, placeOf(n, thread)), other);
          e.storeAt(shared, both, placeOf(n, thread));
        }
      });
    }
    e.alone(e.both(e.inRange(thread, 0, lanes), isInside),
            [&] { takeAll([&](size_t n) { return e.loadAt(shared, type, placeOf(n, thread)); }); });
  });
}

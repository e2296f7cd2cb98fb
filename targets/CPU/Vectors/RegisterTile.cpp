// Sums a tile of a matrix product in vector registers.

#include "targets/CPU/Vectors/RegisterTile.h"

#include <functional>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;
using Loop = RegisterTile::Loop;

SmallVector<Loop> dpc::simplify(ArrayRef<Loop> loops) {
  SmallVector<Loop> result;
  for (const Loop &loop : loops) {
    if (loop.extent == 1)
      continue;
    if (!result.empty()) {
      Loop &outer = result.back();
      if (outer.scalarStep == loop.extent * loop.scalarStep &&
          outer.vectorStep == loop.extent * loop.vectorStep) {
        outer = {outer.extent * loop.extent, loop.scalarStep, loop.vectorStep};
        continue;
      }
    }
    result.push_back(loop);
  }
  return result;
}

Values RegisterTile::addPoint(VectorCode &code, ArrayRef<Value> scalars, Value vectorBase,
                              int64_t scalarConstant, int64_t vectorConstant, Values sums) const {
  VectorEmitter &e = code.e;
  Values factors;
  for (auto [v, offset] : llvm::enumerate(vectors))
    factors.push_back(code.load(code.at(vectorBase, e.constant(vectorConstant + offset)),
                                lastLanes && v + 1 == vectors.size() ? lastLanes : code.lanes));
  for (auto [r, row] : llvm::enumerate(scalars)) {
    Value factor = code.splat(code.loadScalar(code.at(row, e.constant(scalarConstant))));
    for (size_t v = 0; v < vectors.size(); ++v) {
      Value &sum = sums[r * vectors.size() + v];
      sum = isOfPairs ? code.multiplyAddPairs(factor, factors[v], sum)
                      : code.multiplyAdd(factor, factors[v], sum);
    }
  }
  return sums;
}

Values RegisterTile::emit(VectorCode &code, Values sums) const {
  VectorEmitter &e = code.e;
  SmallVector<Loop> nest = simplify(loops);
  // Inner loops with at most this many points together are unrolled completely.
  const int64_t most = 9;
  size_t unrolled = nest.size();
  int64_t points = 1;
  while (unrolled > 0 && points * nest[unrolled - 1].extent <= most)
    points *= nest[--unrolled].extent;

  auto step = [&](ArrayRef<Value> scalars, Value vectorBase, int64_t scalarConstant,
                  int64_t vectorConstant, Values sums) {
    return addPoint(code, scalars, vectorBase, scalarConstant, vectorConstant, std::move(sums));
  };
  // Emits all points of the loops from loop `depth` on, unrolled.
  std::function<Values(size_t, ArrayRef<Value>, Value, int64_t, int64_t, Values)> writeOut =
      [&](size_t depth, ArrayRef<Value> scalars, Value vectorBase, int64_t scalarConstant,
          int64_t vectorConstant, Values sums) {
        if (depth == nest.size())
          return step(scalars, vectorBase, scalarConstant, vectorConstant, std::move(sums));
        for (int64_t i = 0; i < nest[depth].extent; ++i)
          sums =
              writeOut(depth + 1, scalars, vectorBase, scalarConstant + i * nest[depth].scalarStep,
                       vectorConstant + i * nest[depth].vectorStep, std::move(sums));
        return sums;
      };
  // Computes the addresses of scalars and vectors at iteration `i` of `loop`.
  auto moved = [&](ArrayRef<Value> scalars, Value vectorBase, Index i, const Loop &loop) {
    Values next;
    for (Value row : scalars)
      next.push_back(code.at(row, i * loop.scalarStep));
    return std::make_pair(next, code.at(vectorBase, i * loop.vectorStep));
  };
  std::function<Values(size_t, ArrayRef<Value>, Value, Values)> walk =
      [&](size_t depth, ArrayRef<Value> scalars, Value vectorBase, Values sums) -> Values {
    if (depth >= unrolled)
      return writeOut(depth, scalars, vectorBase, 0, 0, std::move(sums));
    const Loop &loop = nest[depth];
    if (depth + 1 < nest.size())
      return e.loop(loop.extent, sums, [&](Index i, ValueRange carried) {
        auto [next, base] = moved(scalars, vectorBase, i, loop);
        return walk(depth + 1, next, base, Values(carried));
      });
    // A long innermost loop takes four points per iteration.
    const int64_t unroll = 4;
    int64_t whole = loop.extent / unroll;
    sums = e.loop(whole, sums, [&](Index i, ValueRange carried) {
      if (eachIteration)
        eachIteration(i, whole);
      auto [next, base] = moved(scalars, vectorBase, i * unroll, loop);
      Values now(carried);
      for (int64_t u = 0; u < unroll; ++u)
        now = step(next, base, u * loop.scalarStep, u * loop.vectorStep, now);
      return now;
    });
    for (int64_t i = whole * unroll; i < loop.extent; ++i)
      sums = step(scalars, vectorBase, i * loop.scalarStep, i * loop.vectorStep, sums);
    return sums;
  };
  return walk(0, rows, panel, std::move(sums));
}

void RegisterTile::emitTo(VectorCode &code, ArrayRef<Value> results, bool adds) const {
  auto place = [&](Value result, size_t v) {
    return code.at(result, code.e.constant(v * code.lanes));
  };
  // The tile is summed from 0 and added as a whole. If each product were added to the element, the
  // rounding errors would be those of one long sum.
  Values made = emit(code, Values(results.size() * vectors.size(), code.zero()));
  for (auto [r, result] : llvm::enumerate(results))
    for (size_t v = 0; v < vectors.size(); ++v) {
      Value sum = made[r * vectors.size() + v];
      code.store(adds ? code.add(code.load(place(result, v)), sum) : sum, place(result, v));
    }
}

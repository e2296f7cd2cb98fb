// Loop rules of the reductions.

#include "dialects/NN/IR/Loops.h"
#include "dialects/NN/IR/Reduction.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

/// Dimensions behind the last reduced one.
static int64_t trailingKept(ReduceOp op) {
  ArrayRef<int64_t> reduced = op.getDimensions();
  return typeOf(op.getInput()).getRank() -
         (reduced.empty() ? 0 : reduced.back() + 1);
}

// With a kept innermost dimension, whole rows are combined into the result:
// consecutive addresses. The 16-bit floats would be rounded at each step.
bool ReduceOp::isPushed() {
  RankedTensorType type = typeOf(getResult());
  return trailingKept(*this) > 0 && !getDimensions().empty() &&
         type.getNumElements() > 1 &&
         accumulatorType(type.getElementType()) == type.getElementType() &&
         !type.getElementType().isInteger(1);
}

int64_t ReduceOp::getElementCost() {
  int64_t kept = std::max<int64_t>(1, typeOf(getResult()).getNumElements());
  return std::max<int64_t>(1, typeOf(getInput()).getNumElements() / kept);
}

int64_t ReduceOp::getReadsPerElement(unsigned) { return 1; }

namespace {
/// Combines what `element` gives for every multi-index of some extents, of the
/// accumulator's type. A long floating-point sum is one of sums over blocks,
/// added up in f64: its rounding error is that of a block (Higham, "Accuracy
/// and Stability of Numerical Algorithms", 4.2).
class BlockedFold {
public:
  static constexpr int64_t kBlock = 1 << 12;

  BlockedFold(LoopEmitter &e, Combiner &combiner,
              function_ref<Value(ArrayRef<Index>)> element)
      : e(e), combiner(combiner),
        total(e, ReduceKind::sum, e.builder.getF64Type()), element(element) {}

  Value run(ArrayRef<int64_t> extents, bool isFloatSum) {
    if (!isFloatSum || count(extents) <= kBlock)
      return runBlock(extents, {});
    Value sum = runBlocks(extents);
    Type type = combiner.identity().getType();
    return type == sum.getType() ? sum : e.make<arith::TruncFOp>(type, sum);
  }

private:
  static int64_t count(ArrayRef<int64_t> extents) {
    int64_t product = 1;
    for (int64_t extent : extents)
      product *= extent;
    return product;
  }

  Value fold(Combiner &sum, ArrayRef<int64_t> extents,
             function_ref<Value(ArrayRef<Index>)> term) {
    return e.fold(
        extents, sum.identity(), [&](ArrayRef<Index> ivs, ValueRange carried) {
          return LoopEmitter::Values{sum.combine(carried[0], term(ivs))};
        })[0];
  }

  /// The elements `outer`, `start` + i, j, ... for i, j, ... in `extents`.
  Value runBlock(ArrayRef<int64_t> extents, std::optional<Index> start) {
    return fold(combiner, extents, [&](ArrayRef<Index> ivs) {
      SmallVector<Index> all(outer);
      llvm::append_range(all, ivs);
      if (start)
        all[outer.size()] = *start + ivs[0];
      return element(all);
    });
  }

  /// In f64.
  Value runBlocks(ArrayRef<int64_t> extents) {
    int64_t first = extents.front(), inner = count(extents.drop_front());
    if (inner > kBlock)
      return fold(total, {first}, [&](ArrayRef<Index> iv) {
        outer.push_back(iv[0]);
        Value sum = runBlocks(extents.drop_front());
        outer.pop_back();
        return sum;
      });
    int64_t rounds = kBlock / inner;
    SmallVector<int64_t> block(extents), rest(extents);
    block[0] = rounds;
    rest[0] = first % rounds;
    Value sum = fold(total, {first / rounds}, [&](ArrayRef<Index> iv) {
      return widen(runBlock(block, iv[0] * rounds));
    });
    if (rest[0] == 0)
      return sum;
    Index start = e.constant(first - rest[0]);
    return total.combine(sum, widen(runBlock(rest, start)));
  }

  Value widen(Value sum) {
    Type type = e.builder.getF64Type();
    return sum.getType() == type ? sum : e.make<arith::ExtFOp>(type, sum);
  }

  LoopEmitter &e;
  Combiner &combiner;
  Combiner total;
  function_ref<Value(ArrayRef<Index>)> element;
  SmallVector<Index> outer;
};
} // namespace

Value ReduceOp::emitElementAt(LoopEmitter &e, unsigned,
                              const ElementIndex &index) {
  RankedTensorType type = typeOf(getInput());
  ArrayRef<int64_t> shape = type.getShape();
  SmallVector<int64_t> strides = rowMajorStrides(shape),
                       cuts = e.cutsOf(getInput());
  Index base = e.constant(0);
  // Neighbouring reduced dimensions run as one loop where the operand allows.
  SmallVector<int64_t> extents, steps;
  unsigned kept = 0;
  for (int64_t d = 0, rank = type.getRank(); d < rank; ++d) {
    if (!llvm::is_contained(getDimensions(), d)) {
      base = base + index[kept++] * strides[d];
      continue;
    }
    bool joins = d > 0 && llvm::is_contained(getDimensions(), d - 1) &&
                 !llvm::is_contained(cuts, strides[d - 1]);
    if (joins) {
      extents.back() *= shape[d];
      steps.back() = strides[d];
    } else {
      extents.push_back(shape[d]);
      steps.push_back(strides[d]);
    }
  }
  Combiner combiner(e, getKind(), type.getElementType());
  auto element = [&](ArrayRef<Index> ivs) {
    Index number = base;
    for (auto [iv, step] : llvm::zip_equal(ivs, steps))
      number = number + iv * step;
    return combiner.widen(e.read(getInput(), ElementIndex(e, shape, number)));
  };
  bool isFloatSum =
      getKind() == ReduceKind::sum && isa<FloatType>(type.getElementType());
  return combiner.narrow(
      BlockedFold(e, combiner, element).run(extents, isFloatSum));
}

LogicalResult ReduceOp::emitLoops(LoopEmitter &e) {
  RankedTensorType type = typeOf(getInput());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t trailing = trailingKept(*this), inner = 1,
          leading = type.getRank() - trailing;
  for (int64_t extent : shape.take_back(trailing))
    inner *= extent;
  SmallVector<int64_t> steps(leading, 0);
  int64_t step = inner;
  for (int64_t d = leading - 1; d >= 0; --d)
    if (!llvm::is_contained(getDimensions(), d)) {
      steps[d] = step;
      step *= shape[d];
    }
  SmallVector<int64_t> innerShape{inner};
  for (int64_t cut : e.cutsOf(getInput()))
    if (cut < inner)
      innerShape.assign(shape.end() - trailing, shape.end());
  Combiner combiner(e, getKind(), type.getElementType());
  int64_t count = typeOf(getResult()).getNumElements();
  // A long sum in f32 is added up in f64, in scratch: added row by row, its
  // rounding errors would grow with the number of rows.
  constexpr int64_t kLong = 64;
  Type wide = e.builder.getF64Type();
  const bool isWide = getKind() == ReduceKind::sum &&
                      type.getElementType().isF32() &&
                      type.getNumElements() / count > kLong;
  Value totals = isWide ? e.getScratch(count * 8) : Value();
  auto store = [&](Value value, Index to) {
    isWide ? e.storeAt(totals, value, to) : e.store(getResult(), value, to);
  };
  auto addTo = [&](Index to, Value sum) {
    if (!isWide)
      return store(combiner.combine(e.load(getResult(), to), sum), to);
    store(e.make<arith::AddFOp>(e.loadAt(totals, wide, to),
                                e.make<arith::ExtFOp>(wide, sum)),
          to);
  };
  e.forEach({count}, [&](ArrayRef<Index> i) {
    store(isWide ? e.constantLike(wide, 0) : combiner.identity(), i[0]);
  });
  // The last leading dimension runs several rows a round: the result is loaded
  // and stored once for all of them.
  int64_t last = leading - 1, together = shape[last] % 4 == 0 ? 4 : 1;
  SmallVector<int64_t> rows(shape.take_front(leading));
  bool lastReduced = llvm::is_contained(getDimensions(), last);
  if (!lastReduced)
    together = 1;
  rows[last] /= together;
  std::function<void(SmallVector<Index> &)> nest =
      [&](SmallVector<Index> &outer) {
        if (int64_t(outer.size()) < leading) {
          e.sequence(rows[outer.size()], [&](Index i) {
            outer.push_back(i);
            nest(outer);
            outer.pop_back();
          });
          return;
        }
        e.forEach(innerShape, [&](ArrayRef<Index> in) {
          Index column = e.linearize(in, innerShape), to = column;
          Value sum;
          for (int64_t row = 0; row < together; ++row) {
            Index from = e.constant(0);
            for (int64_t d = 0; d < leading; ++d) {
              Index position = d == last ? outer[d] * together + row : outer[d];
              from = from * shape[d] + position;
              if (row == 0)
                to = to + outer[d] * steps[d];
            }
            Value element = e.read(
                getInput(), ElementIndex(e, shape, from * inner + column));
            sum = sum ? combiner.combine(sum, element) : element;
          }
          addTo(to, sum);
        });
      };
  SmallVector<Index> outer;
  nest(outer);
  if (isWide)
    e.forEach({count}, [&](ArrayRef<Index> i) {
      e.store(getResult(),
              e.make<arith::TruncFOp>(type.getElementType(),
                                      e.loadAt(totals, wide, i[0])),
              i[0]);
    });
  return success();
}

//===----------------------------------------------------------------------===//
// nn.arg_reduce
//===----------------------------------------------------------------------===//

int64_t ArgReduceOp::getElementCost() {
  return std::max<int64_t>(1, typeOf(getInput()).getDimSize(getDimension()));
}

int64_t ArgReduceOp::getReadsPerElement(unsigned) { return 1; }

Value ArgReduceOp::emitElementAt(LoopEmitter &e, unsigned,
                                 const ElementIndex &index) {
  RankedTensorType type = typeOf(getInput());
  auto at = [&](Index i) {
    SmallVector<Index> positions(index.positions());
    positions.insert(positions.begin() + getDimension(), i);
    return e.read(getInput(), positions);
  };
  Ordering ordering(e, type.getElementType());
  bool isMax = getKind() == ReduceKind::max;
  Value zero = e.materialize(e.constant(0));
  auto best = e.loop(
      type.getDimSize(getDimension()), {at(e.constant(0)), zero},
      [&](Index i, ValueRange carried) {
        Value now = at(i), old = carried[0];
        Value better =
            isMax ? ordering.less(old, now) : ordering.less(now, old);
        if (getSelectLast())
          better = ordering.either(better, ordering.equal(now, old));
        better = ordering.unlessNan(better, old, now);
        return LoopEmitter::Values{
            e.make<arith::SelectOp>(better, now, old),
            e.make<arith::SelectOp>(better, e.materialize(i), carried[1])};
      });
  Type result = typeOf(getResult()).getElementType();
  if (result.isInteger(64))
    return best[1];
  return e.make<arith::TruncIOp>(result, best[1]);
}

//===----------------------------------------------------------------------===//
// nn.cumsum
//===----------------------------------------------------------------------===//

bool CumSumOp::isPushed() { return true; }

LogicalResult CumSumOp::emitLoops(LoopEmitter &e) {
  RankedTensorType type = typeOf(getInput());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t dimension = getDimension(), extent = shape[dimension];
  SmallVector<int64_t> strides = rowMajorStrides(shape), lines(shape);
  lines[dimension] = 1;
  Combiner combiner(e, ReduceKind::sum, type.getElementType());
  e.forEach(lines, [&](ArrayRef<Index> line) {
    e.loop(extent, combiner.identity(), [&](Index i, ValueRange carried) {
      SmallVector<Index> positions(line);
      positions[dimension] = getReverse() ? e.constant(extent - 1) - i : i;
      ElementIndex index(e, shape, positions);
      Value sum = combiner.combine(carried[0],
                                   combiner.widen(e.read(getInput(), index)));
      e.store(getResult(), combiner.narrow(getExclusive() ? carried[0] : sum),
              index.number());
      return LoopEmitter::Values{sum};
    });
  });
  return success();
}

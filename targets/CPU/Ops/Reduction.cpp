// Fill rule of nn.reduce: whole rows are combined into the result.

#include "dialects/NN/IR/Reduction.h"
#include "targets/CPU/Ops/Ops.h"
#include "targets/CPU/Vectors/VectorFill.h"
#include "targets/Loops/Combiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

/// Dimensions after the last reduced one.
static int64_t trailingKept(ReduceOp op) {
  ArrayRef<int64_t> reduced = op.getDimensions();
  return typeOf(op.getInput()).getRank() -
         (reduced.empty() ? 0 : reduced.back() + 1);
}

namespace {
struct ReduceFill : VectorFillRule<ReduceFill, ReduceOp> {
  // With a kept innermost dimension, whole rows are combined into the result:
  // consecutive addresses. The 16-bit floats would be rounded at each step.
  bool pays(Operation *self) const {
    auto op = cast<ReduceOp>(self);
    RankedTensorType type = typeOf(op.getResult());
    return trailingKept(op) > 0 && !op.getDimensions().empty() &&
           type.getNumElements() > 1 &&
           accumulatorType(type.getElementType()) == type.getElementType() &&
           !type.getElementType().isInteger(1);
  }

  void fill(ReduceOp op, VectorEmitter &e) const {
    RankedTensorType type = typeOf(op.getInput());
    ArrayRef<int64_t> shape = type.getShape();
    int64_t trailing = trailingKept(op), inner = 1,
            leading = type.getRank() - trailing;
    for (int64_t extent : shape.take_back(trailing))
      inner *= extent;
    SmallVector<int64_t> steps(leading, 0);
    int64_t step = inner;
    for (int64_t d = leading - 1; d >= 0; --d)
      if (!llvm::is_contained(op.getDimensions(), d)) {
        steps[d] = step;
        step *= shape[d];
      }
    SmallVector<int64_t> innerShape{inner};
    for (int64_t cut : e.cutsOf(op.getInput()))
      if (cut < inner)
        innerShape.assign(shape.end() - trailing, shape.end());
    Combiner combiner(e, op.getKind(), type.getElementType());
    int64_t count = typeOf(op.getResult()).getNumElements();
    // A long sum in f32 is added up in f64, in scratch: added row by row, its
    // rounding errors would grow with the number of rows.
    constexpr int64_t kLong = 64;
    Type wide = e.builder.getF64Type();
    const bool isWide = op.getKind() == ReduceKind::sum &&
                        type.getElementType().isF32() &&
                        type.getNumElements() / count > kLong;
    Value totals = isWide ? e.getScratch(count * 8) : Value();
    auto store = [&](Value value, Index to) {
      isWide ? e.storeAt(totals, value, to)
             : e.store(op.getResult(), value, to);
    };
    auto addTo = [&](Index to, Value sum) {
      if (!isWide)
        return store(combiner.combine(e.load(op.getResult(), to), sum), to);
      store(e.make<arith::AddFOp>(e.loadAt(totals, wide, to),
                                  e.make<arith::ExtFOp>(wide, sum)),
            to);
    };
    e.forEach({count}, [&](ArrayRef<Index> i) {
      store(isWide ? e.constantLike(wide, 0) : combiner.identity(), i[0]);
    });
    // The last leading dimension runs several rows a round: the result is
    // loaded and stored once for all of them.
    int64_t last = leading - 1, together = shape[last] % 4 == 0 ? 4 : 1;
    SmallVector<int64_t> rows(shape.take_front(leading));
    bool lastReduced = llvm::is_contained(op.getDimensions(), last);
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
                Index position =
                    d == last ? outer[d] * together + row : outer[d];
                from = from * shape[d] + position;
                if (row == 0)
                  to = to + outer[d] * steps[d];
              }
              Value element = e.read(
                  op.getInput(), ElementIndex(e, shape, from * inner + column));
              sum = sum ? combiner.combine(sum, element) : element;
            }
            addTo(to, sum);
          });
        };
    SmallVector<Index> outer;
    nest(outer);
    if (isWide)
      e.forEach({count}, [&](ArrayRef<Index> i) {
        e.store(op.getResult(),
                e.make<arith::TruncFOp>(type.getElementType(),
                                        e.loadAt(totals, wide, i[0])),
                i[0]);
      });
  }
};
} // namespace

void dpc::attachReductionFills(MLIRContext &context) {
  ReduceOp::attachInterface<ReduceFill>(context);
}

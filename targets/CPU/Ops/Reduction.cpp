// Fill rule of nn.reduce for reductions that keep the innermost dimension. It
// combines rows of the operand with a row of the result.

#include "dialects/NN/IR/Reduction.h"
#include "targets/CPU/Ops/Ops.h"
#include "targets/CPU/Vectors/VectorFill.h"
#include "targets/Loops/Combiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

/// The number of dimensions after the last reduced dimension.
static int64_t trailingKept(ReduceOp op) {
  ArrayRef<int64_t> reduced = op.getDimensions();
  return typeOf(op.getInput()).getRank() - (reduced.empty() ? 0 : reduced.back() + 1);
}

namespace {
/// Writes the loops of one reduction that keeps the innermost dimension. A row is
/// the elements along the dimensions after the last reduced one, which are
/// contiguous. Each row of the operand is combined with one row of the result.
class RowReduction {
public:
  RowReduction(ReduceOp op, VectorEmitter &e)
      : op(op), e(e), type(typeOf(op.getInput())), trailing(trailingKept(op)),
        leading(type.getRank() - trailing), count(typeOf(op.getResult()).getNumElements()),
        combiner(e, op.getKind(), type.getElementType()), isWide(isWideSum(op)),
        wide(e.builder.getF64Type()) {}

  void emit();

  /// A sum of f32 over more rows than this is accumulated in f64, in scratch
  /// memory. In f32, the rounding errors would grow with the number of rows.
  static constexpr int64_t kLong = 64;
  static bool isWideSum(ReduceOp op) {
    RankedTensorType type = typeOf(op.getInput());
    return op.getKind() == ReduceKind::sum && type.getElementType().isF32() &&
           type.getNumElements() / typeOf(op.getResult()).getNumElements() > kLong;
  }
  static int64_t totalBytes(ReduceOp op) { return typeOf(op.getResult()).getNumElements() * 8; }

private:
  void store(Value value, Index to) {
    isWide ? e.storeAt(totals, value, to) : e.store(op.getResult(), value, to);
  }
  void addTo(Index to, Value sum) {
    if (!isWide)
      return store(combiner.combine(e.load(op.getResult(), to), sum), to);
    store(e.make<arith::AddFOp>(e.loadAt(totals, wide, to), e.make<arith::ExtFOp>(wide, sum)), to);
  }
  void nest(SmallVector<Index> &outer);
  void addRows(ArrayRef<Index> outer);

  ReduceOp op;
  VectorEmitter &e;
  const RankedTensorType type;
  /// The number of dimensions that form a row, and the number of the other
  /// dimensions.
  const int64_t trailing, leading;
  /// The number of elements of the result.
  const int64_t count;
  Combiner combiner;
  const bool isWide;
  const Type wide;
  Value totals;
  /// `inner` is the number of elements of a row. `innerShape` has the loops over
  /// the elements of a row. `rows` has the loops over rows, and `steps` has the
  /// strides of the result along these loops.
  int64_t inner = 1;
  SmallVector<int64_t> innerShape, rows, steps;
  /// The number of rows that one iteration combines. An iteration loads and stores
  /// the row of the result once.
  int64_t together = 1;
};

void RowReduction::emit() {
  ArrayRef<int64_t> shape = type.getShape();
  for (int64_t extent : shape.take_back(trailing))
    inner *= extent;
  steps.assign(leading, 0);
  int64_t step = inner;
  for (int64_t d = leading - 1; d >= 0; --d)
    if (!llvm::is_contained(op.getDimensions(), d)) {
      steps[d] = step;
      step *= shape[d];
    }
  innerShape = {inner};
  for (int64_t cut : e.splitStrides(op.getInput()))
    if (cut < inner)
      innerShape.assign(shape.end() - trailing, shape.end());
  if (isWide)
    totals = e.getScratch(totalBytes(op));
  e.forEach({count}, [&](ArrayRef<Index> i) {
    store(isWide ? e.constantLike(wide, 0) : combiner.identity(), i[0]);
  });
  int64_t last = leading - 1;
  if (llvm::is_contained(op.getDimensions(), last) && shape[last] % 4 == 0)
    together = 4;
  rows.assign(shape.begin(), shape.begin() + leading);
  rows[last] /= together;
  SmallVector<Index> outer;
  nest(outer);
  if (isWide)
    e.forEach({count}, [&](ArrayRef<Index> i) {
      e.store(op.getResult(),
              e.make<arith::TruncFOp>(type.getElementType(), e.loadAt(totals, wide, i[0])), i[0]);
    });
}

/// Emits the loops over rows from dimension `outer.size()` on.
void RowReduction::nest(SmallVector<Index> &outer) {
  if (int64_t(outer.size()) == leading)
    return addRows(outer);
  e.sequence(rows[outer.size()], [&](Index i) {
    outer.push_back(i);
    nest(outer);
    outer.pop_back();
  });
}

void RowReduction::addRows(ArrayRef<Index> outer) {
  ArrayRef<int64_t> shape = type.getShape();
  e.forEach(innerShape, [&](ArrayRef<Index> in) {
    Index column = e.linearize(in, innerShape), to = column;
    Value sum;
    for (int64_t row = 0; row < together; ++row) {
      Index from = e.constant(0);
      for (int64_t d = 0; d < leading; ++d) {
        Index position = d == leading - 1 ? outer[d] * together + row : outer[d];
        from = from * shape[d] + position;
        if (row == 0)
          to = to + outer[d] * steps[d];
      }
      Value element = e.read(op.getInput(), ElementIndex(e, shape, from * inner + column));
      sum = sum ? combiner.combine(sum, element) : element;
    }
    addTo(to, sum);
  });
}

struct ReduceFill : VectorFillRule<ReduceFill, ReduceOp> {
  // The rule does not pay for 16-bit floats, because the result would be rounded
  // after each row.
  bool pays(Operation *self) const {
    auto op = cast<ReduceOp>(self);
    RankedTensorType type = typeOf(op.getResult());
    return trailingKept(op) > 0 && !op.getDimensions().empty() && type.getNumElements() > 1 &&
           accumulatorType(type.getElementType()) == type.getElementType() &&
           !type.getElementType().isInteger(1);
  }

  ScratchSizes scratch(ReduceOp op, const VectorSite &) const {
    if (!RowReduction::isWideSum(op))
      return {};
    return {RowReduction::totalBytes(op)};
  }

  void fill(ReduceOp op, VectorEmitter &e) const { RowReduction(op, e).emit(); }
};
} // namespace

void dpc::attachReductionFills(MLIRContext &context) {
  ReduceOp::attachInterface<ReduceFill>(context);
}

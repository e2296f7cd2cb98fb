// Rules of nn.segment_sum and nn.segment_fill. Several threads may share one
// segment. The segment is then divided into pieces of equal length.

#include "dialects/NN/IR/Segments.h"
#include "targets/Loops/Combiner.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Rules.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {

/// The elements begin, .., end - 1 of a flat tensor, as i64 values.
struct Range {
  Value begin, end;
};

/// The elements of segment `number`, clamped to a flat tensor of `size` elements.
Range getSegment(LoopEmitter &e, Value begins, Value ends, Index number, int64_t size) {
  auto inside = [&](Value bounds) -> Value {
    Value bound = e.read(bounds, {number});
    bound = e.make<arith::MaxSIOp>(bound, e.materialize(e.constant(0)));
    return e.make<arith::MinSIOp>(bound, e.materialize(e.constant(size)));
  };
  return {inside(begins), inside(ends)};
}

/// Piece `number` of a range that is divided into `count` pieces. The range has at
/// most `size` elements.
Range getPiece(LoopEmitter &e, Range range, Index number, int64_t count, int64_t size) {
  if (count == 1)
    return range;
  // The pieces of all segments have the length that the longest possible segment
  // needs, so most pieces of a short segment are empty.
  Value length = e.materialize(e.constant(llvm::divideCeil(size, count)));
  Value offset = e.make<arith::MulIOp>(e.materialize(number), length);
  Value begin = e.make<arith::MinSIOp>(e.make<arith::AddIOp>(range.begin, offset), range.end);
  Value end = e.make<arith::MinSIOp>(e.make<arith::AddIOp>(begin, length), range.end);
  return {begin, end};
}

/// Chooses the numbers of parts and of pieces. Each segment is a part. If there are several
/// pieces, those of the longest possible segment have at least `shortPiece` elements, apart
/// from the last pieces, which may be shorter.
FillParts partsOf(int64_t segments, int64_t elements, int64_t wanted) {
  const int64_t shortPiece = 64, mostPieces = 256;
  return {segments,
          wanted > segments ? std::clamp<int64_t>(elements / shortPiece, 1, mostPieces) : 1};
}

/// Fill rule of nn.segment_sum. The sums of blocks are added in f64, so the rounding
/// error is that of one block.
struct SegmentSumRule : FillRule<SegmentSumRule, SegmentSumOp> {
  FillParts parts(SegmentSumOp op, int64_t wanted) const {
    return partsOf(typeOf(op.getResult()).getNumElements(), typeOf(op.getInput()).getNumElements(),
                   wanted);
  }

  // Only the bounds are read outside of loops and branches. If there is one segment,
  // each of the two operands with bounds has one element.
  bool readsInOpen(Operation *, unsigned operand) const { return operand > 0; }

  /// The bytes of scratch memory for the sums of the pieces of a segment.
  static int64_t sumBytes(FillParts parts) { return parts.width * int64_t(sizeof(double)); }

  SmallVector<int64_t> getScratch(Operation *, FillParts parts, bool) const {
    if (parts.width == 1)
      return {};
    return {sumBytes(parts)};
  }

  void fill(SegmentSumOp op, LoopEmitter &e, FillParts parts) const {
    const int64_t size = typeOf(op.getInput()).getNumElements();
    Type type = typeOf(op.getInput()).getElementType(), wide = e.builder.getF64Type();
    Combiner total(e, ReduceKind::sum, wide);
    auto store = [&](Value sum, Index segment) {
      e.store(op.getResult(), type == wide ? sum : e.make<arith::TruncFOp>(type, sum), segment);
    };
    e.forEach({parts.count}, [&](ArrayRef<Index> segment) {
      Range range = getSegment(e, op.getBegins(), op.getEnds(), segment[0], size);
      if (parts.width == 1)
        return store(sumBlocks(op, e, range, size), segment[0]);
      Value sums = e.getScratch(sumBytes(parts));
      e.forEach({parts.width}, [&](ArrayRef<Index> piece) {
        Range own = getPiece(e, range, piece[0], parts.width, size);
        e.storeAt(sums, addUp(op, e, own.begin, own.end, total.identity()), piece[0]);
      });
      e.meet();
      store(e.loop(parts.width, total.identity(),
                   [&](Index i, ValueRange carried) {
                     return Values{total.combine(carried[0], e.loadAt(sums, wide, i))};
                   })[0],
            segment[0]);
    });
  }

private:
  static Value element(SegmentSumOp op, LoopEmitter &e, Index number) {
    return e.read(op.getInput(), ElementIndex(e, typeOf(op.getInput()).getShape(), number));
  }

  static Value widen(LoopEmitter &e, Value value) {
    Type wide = e.builder.getF64Type();
    return value.getType() == wide ? value : Value(e.make<arith::ExtFOp>(wide, value));
  }

  /// Adds the elements `begin`, .., `end` - 1 to `sum`, one after the other in f64.
  static Value addUp(SegmentSumOp op, LoopEmitter &e, Value begin, Value end, Value sum) {
    Combiner total(e, ReduceKind::sum, e.builder.getF64Type());
    const int64_t size = typeOf(op.getInput()).getNumElements();
    return e.loopBetween(begin, end, size, sum, [&](Index i, ValueRange carried) {
      return Values{total.combine(carried[0], widen(e, element(op, e, i)))};
    })[0];
  }

  /// Adds the sums of all blocks and the remaining elements in f64. A block is a
  /// reduction, whose terms the target may add in parallel.
  static Value sumBlocks(SegmentSumOp op, LoopEmitter &e, Range range, int64_t size) {
    const int64_t block = 256;
    Combiner partial(e, ReduceKind::sum, typeOf(op.getInput()).getElementType()),
        total(e, ReduceKind::sum, e.builder.getF64Type());
    Index begin = e.bind(range.begin, 0, size);
    Value zero = e.materialize(e.constant(0)), blockSize = e.materialize(e.constant(block));
    // A segment that lies in another shard of the flat storage has no elements here.
    Value length = e.make<arith::MaxSIOp>(e.make<arith::SubIOp>(range.end, range.begin), zero);
    Value blocks = e.make<arith::DivSIOp>(length, blockSize);
    Value sum = e.loopBetween(
        zero, blocks, size / block, total.identity(), [&](Index b, ValueRange carried) {
          Value part = partial.reduce({block}, [&](ArrayRef<Index> i, ValueRange inner) {
            Value next = partial.widen(element(op, e, begin + b * block + i[0]));
            return Values{partial.combine(inner[0], next)};
          });
          return Values{total.combine(carried[0], widen(e, partial.narrow(part)))};
        })[0];
    Value rest = e.make<arith::AddIOp>(range.begin, e.make<arith::MulIOp>(blocks, blockSize));
    return addUp(op, e, rest, e.make<arith::AddIOp>(range.begin, length), sum);
  }
};

struct SegmentFillRule : FillRule<SegmentFillRule, SegmentFillOp> {
  bool readsInOpen(Operation *, unsigned) const { return true; }

  FillParts parts(SegmentFillOp op, int64_t wanted) const {
    // One part, because the code first stores zeros everywhere and then overwrites
    // them.
    return {1,
            wanted > 1 ? std::clamp<int64_t>(typeOf(op.getResult()).getNumElements(), 1, 1024) : 1};
  }

  void fill(SegmentFillOp op, LoopEmitter &e, FillParts parts) const {
    const int64_t size = typeOf(op.getResult()).getNumElements(),
                  segments = typeOf(op.getInput()).getNumElements();
    Value zero = e.constantLike(registerType(typeOf(op.getResult()).getElementType()), 0);
    e.forEach({1}, [&](ArrayRef<Index>) {
      e.forEach({size}, [&](ArrayRef<Index> i) { e.store(op.getResult(), zero, i[0]); });
      e.meet();
      e.sequence(segments, [&](Index segment) {
        Value value = e.read(op.getInput(), {segment});
        Range range = getSegment(e, op.getBegins(), op.getEnds(), segment, size);
        auto fillPiece = [&](Range own) {
          e.loopBetween(own.begin, own.end, size, {}, [&](Index i, ValueRange) {
            e.store(op.getResult(), value, i);
            return Values{};
          });
        };
        if (parts.width == 1)
          return fillPiece(range);
        e.forEach({parts.width}, [&](ArrayRef<Index> piece) {
          fillPiece(getPiece(e, range, piece[0], parts.width, size));
        });
      });
    });
  }
};

} // namespace

void dpc::attachSegmentRules(MLIRContext &context) {
  SegmentSumOp::attachInterface<SegmentSumRule>(context);
  SegmentFillOp::attachInterface<SegmentFillRule>(context);
}

// Fill rule of nn.cumsum.

#include "dialects/NN/IR/Reduction.h"
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

/// Fill rule of nn.cumsum. A part is a line, that is, the elements along the summed
/// dimension. If there are few lines, and sums may add their terms in any order, each line
/// is divided into pieces. First, all pieces are summed in parallel. Then the running sums
/// of each piece are computed, starting with the sum of the pieces before it.
struct CumSumRule : FillRule<CumSumRule, CumSumOp> {
  static SmallVector<int64_t> linesOf(CumSumOp op) {
    SmallVector<int64_t> lines(typeOf(op.getInput()).getShape());
    lines[op.getDimension()] = 1;
    return lines;
  }

  FillParts parts(CumSumOp op, int64_t wanted) const {
    const int64_t shortPiece = 16, mostPieces = 256;
    int64_t lines = ShapedType::getNumElements(linesOf(op)),
            extent = typeOf(op.getInput()).getDimSize(op.getDimension());
    return {lines, lines >= wanted ? 1 : std::clamp<int64_t>(extent / shortPiece, 1, mostPieces)};
  }

  bool readsInOpen(Operation *, unsigned) const { return true; }

  /// The bytes of scratch memory for the sums of the pieces of a line.
  static int64_t sumBytes(CumSumOp op, FillParts parts) {
    Type sumType = accumulatorType(registerType(typeOf(op.getInput()).getElementType()));
    return parts.width * sumType.getIntOrFloatBitWidth() / 8;
  }

  SmallVector<int64_t> getScratch(Operation *self, FillParts parts, bool orderedSums) const {
    if (parts.width == 1 || orderedSums)
      return {};
    return {sumBytes(cast<CumSumOp>(self), parts)};
  }

  void fill(CumSumOp op, LoopEmitter &e, FillParts parts) const {
    RankedTensorType type = typeOf(op.getInput());
    ArrayRef<int64_t> shape = type.getShape();
    int64_t dimension = op.getDimension(), extent = shape[dimension],
            length = llvm::divideCeil(extent, parts.width);
    Combiner combiner(e, ReduceKind::sum, type.getElementType());
    Type sumType = combiner.identity().getType();
    e.forEach(linesOf(op), [&](ArrayRef<Index> line) {
      auto placeOf = [&](Index i) {
        SmallVector<Index> positions(line);
        positions[dimension] = op.getReverse() ? e.constant(extent - 1) - i : i;
        return ElementIndex(e, shape, positions);
      };
      auto add = [&](Value sum, const ElementIndex &index) {
        return combiner.combine(sum, combiner.widen(e.read(op.getInput(), index)));
      };
      auto run = [&](Index i, ValueRange carried) {
        ElementIndex index = placeOf(i);
        Value sum = add(carried[0], index);
        e.store(op.getResult(), combiner.narrow(op.getExclusive() ? carried[0] : sum),
                index.number());
        return Values{sum};
      };
      if (parts.width == 1 || e.orderedSums) {
        e.loop(extent, combiner.identity(), run);
        return;
      }
      Value sums = e.getScratch(sumBytes(op, parts));
      auto overPiece = [&](Index piece, Value initial,
                           function_ref<Values(Index, ValueRange)> body) {
        Value first = e.materialize(piece * length),
              end = e.make<arith::MinSIOp>(e.materialize(piece * length + length),
                                           e.materialize(e.constant(extent)));
        // Pieces after the last element are empty.
        Value begin = e.make<arith::MinSIOp>(first, end);
        return e.loopBetween(begin, end, extent, initial, body)[0];
      };
      e.forEach({parts.width}, [&](ArrayRef<Index> piece) {
        Value sum = overPiece(piece[0], combiner.identity(), [&](Index i, ValueRange carried) {
          return Values{add(carried[0], placeOf(i))};
        });
        e.storeAt(sums, sum, piece[0]);
      });
      e.meet();
      e.forEach({parts.width}, [&](ArrayRef<Index> piece) {
        Value none = e.materialize(e.constant(0)), own = e.materialize(piece[0]);
        Value before = e.loopBetween(
            none, own, parts.width, combiner.identity(), [&](Index i, ValueRange carried) {
              return Values{combiner.combine(carried[0], e.loadAt(sums, sumType, i))};
            })[0];
        overPiece(piece[0], before, run);
      });
    });
  }
};

} // namespace

void dpc::attachCumSumRule(MLIRContext &context) { CumSumOp::attachInterface<CumSumRule>(context); }

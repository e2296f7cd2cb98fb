// Element rules of the three convolution ops: an element is a sum of products.
// Products with padding are skipped.

#include "targets/Loops/Combiner.h"
#include "targets/Loops/Ops/ConvolutionTerms.h"
#include "targets/Loops/Ops/Ops.h"
#include "targets/Loops/Rules.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

namespace {

/// The element rule of a convolution op. The class `Terms` describes its sum
/// (ConvolutionTerms.h).
template <typename Terms, typename Op>
struct ConvolutionRule : ElementRule<ConvolutionRule<Terms, Op>, Op> {
  int64_t getElementCost(Operation *op) const { return productsPer(op, op->getResult(0)); }
  int64_t getReadsPerElement(Operation *op, unsigned operand) const {
    return productsPer(op, op->getOperand(operand));
  }

  void reads(Op op, IndexSpace &space, const ElementIndex &index, VisitRead read) const {
    Convolution c = op.getConvolution();
    space.inLoops(Terms::extents(c), [&](ArrayRef<Index> k) {
      ConvolutionTerm term = Terms::term(c, space, positionsOf(c, index), k);
      space.inBranch(!space.areMet(term.bounds(space, c, Terms::first(c))), [&] {
        read(1, elementOf(space, op->getOperand(1), inOrder(c, term.second)));
        read(0, elementOf(space, op->getOperand(0), inOrder(c, term.first)));
      });
    });
  }

  Value element(Op op, LoopEmitter &e, const ElementIndex &index) const {
    Convolution c = op.getConvolution();
    Combiner combiner(e, ReduceKind::sum, typeOf(op->getOperand(0)).getElementType(),
                      typeOf(op.getResult()).getElementType());
    auto add = [&](ArrayRef<Index> k, ValueRange carried) {
      ConvolutionTerm term = Terms::term(c, e, positionsOf(c, index), k);
      auto product = [&] {
        Value y = combiner.widen(e.read(op->getOperand(1), inOrder(c, term.second))),
              x = combiner.widen(e.read(op->getOperand(0), inOrder(c, term.first)));
        return combiner.accumulateProduct(carried[0], x, y);
      };
      return Values{e.branch(e.allInRange(term.bounds(e, c, Terms::first(c))), product,
                             [&] { return Value(carried[0]); })};
    };
    return combiner.narrow(combiner.reduce(Terms::extents(c), add));
  }

private:
  /// The positions [batch, channels, spatial..] of an element of the result.
  static SmallVector<Index> positionsOf(const Convolution &c, const ElementIndex &index) {
    ArrayRef<Index> positions = index.positions();
    return c.channelsLast ? withChannelsSecond(positions) : SmallVector<Index>(positions);
  }
  static SmallVector<Index> inOrder(const Convolution &c, ArrayRef<Index> positions) {
    return c.inOrder(positions);
  }
  static int64_t productsPer(Operation *op, Value tensor) {
    Convolution c = cast<Op>(op).getConvolution();
    int64_t products =
        c.y.getNumElements() * ShapedType::getNumElements(c.w.getShape().drop_front(1));
    return std::max<int64_t>(1, products / std::max<int64_t>(1, typeOf(tensor).getNumElements()));
  }
};

} // namespace

void dpc::attachConvolutionRules(MLIRContext &context) {
  ConvOp::attachInterface<ConvolutionRule<ConvTerms, ConvOp>>(context);
  ConvInputGradOp::attachInterface<ConvolutionRule<ConvInputGradTerms, ConvInputGradOp>>(context);
  ConvWeightGradOp::attachInterface<ConvolutionRule<ConvWeightGradTerms, ConvWeightGradOp>>(
      context);
}

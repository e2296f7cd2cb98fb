// Grid fill rules of the three convolution ops: products in tiles. One factor has the
// patches of an image, which is the op's first operand. The patches are not stored:
// reading an element of a patch reads the image.

#include "targets/CUDA/Ops/BlockProduct.h"
#include "targets/CUDA/Ops/Ops.h"
#include "targets/Loops/Ops/ConvolutionTerms.h"

#include <numeric>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;

namespace {

/// Computes one product per group, which `Terms` describes (ConvolutionTerms.h). The depth of a
/// product is its summed dimension. In the gradient of the weight, elements that are neighbours
/// along the depth are neighbours in memory in both factors. In the other two products, this only
/// holds for the weight.
template <typename Terms, typename Op, bool depthIsInnerOfFirst>
struct ConvolutionGridFill
    : GridFillOpInterface::ExternalModel<ConvolutionGridFill<Terms, Op, depthIsInnerOfFirst>, Op> {
  /// The neighbours along the depth that are neighbours in the second operand. They have all
  /// spatial positions. In the weight of a convolution, they have all channels too.
  static int64_t runOfSecond(Op op) {
    ArrayRef<int64_t> shape = typeOf(op->getOperand(1)).getShape();
    return ShapedType::getNumElements(shape.drop_front(std::is_same_v<Op, ConvOp> ? 1 : 2));
  }
  /// The neighbours in the inner direction that are neighbours in the first operand. They have
  /// all spatial positions if each patch is one point of the image.
  static int64_t runOfFirst(Op op) {
    const Convolution c = op.getConvolution();
    const int64_t points = ShapedType::getNumElements(c.x.getShape().drop_front(2));
    const bool arePatchesPoints =
        ShapedType::getNumElements(c.w.getShape().drop_front(2)) == 1 &&
        c.x.getShape().drop_front(2) == c.y.getShape().drop_front(2) &&
        llvm::all_of(c.window.strides, [](int64_t stride) { return stride == 1; }) &&
        llvm::all_of(c.window.padLow, [](int64_t padding) { return padding == 0; });
    return arePatchesPoints ? points : 0;
  }
  /// Whether the depth has the channels of one tap of the kernel after those of another tap. Then
  /// the elements of a slice mostly are of one tap, which has one position in the image and one
  /// place in the padding. Sums that keep their order have the taps of one channel together.
  static bool hasChannelsLast(Op op, GridEmitter &e) {
    return !depthIsInnerOfFirst && !e.orderedSums &&
           ShapedType::getNumElements(op.getConvolution().w.getShape().drop_front(2)) > 1;
  }
  /// The channel and the tap at index `k` along such a depth.
  static SmallVector<Index> channelAndTap(GridEmitter &e, Index k, ArrayRef<int64_t> extents) {
    // Pieces of channels make expressions simple: a slice begins at a multiple of a piece.
    const int64_t channels = extents[0], piece = std::gcd(channels, int64_t(32)),
                  pieces = channels / piece;
    Index number = e.floorDiv(k, piece);
    SmallVector<Index> positions{e.mod(number, pieces) * piece + e.mod(k, piece)};
    llvm::append_range(positions, e.delinearize(e.floorDiv(number, pieces), extents.drop_front()));
    return positions;
  }
  static BlockProduct productOf(Op op) {
    Convolution c = op.getConvolution();
    return {{typeOf(op->getOperand(0)).getElementType(), typeOf(op.getResult()).getElementType()},
            c.groups,
            Terms::rows(c),
            ShapedType::getNumElements(Terms::columns(c)),
            ShapedType::getNumElements(Terms::extents(c)),
            /*depthIsInnerOfA=*/true,
            depthIsInnerOfFirst,
            runOfSecond(op),
            runOfFirst(op)};
  }

  bool pays(Operation *self) const { return productOf(cast<Op>(self)).pays(); }
  SmallVector<TileGrid> getGrids(Operation *self, const GridOptions &options) const {
    return productOf(cast<Op>(self)).getGrids(options.mayDivide);
  }
  int64_t countFinalElements(Operation *self, LaunchPhase phase) const {
    return productOf(cast<Op>(self)).countFinalElements(phase);
  }
  // The second launch reads only the partial sums of the first launch.
  bool readsOperands(Operation *, LaunchPhase phase) const { return phase.number == 0; }
  int64_t getScratchBytes(Operation *self) const {
    return productOf(cast<Op>(self)).getScratchBytes();
  }

  void emitTiles(Operation *self, GridEmitter &e, LaunchPhase phase, FinishTile finish) const {
    auto op = cast<Op>(self);
    Convolution c = op.getConvolution();
    SmallVector<int64_t> columns = Terms::columns(c), extents = Terms::extents(c);
    RankedTensorType first = typeOf(op->getOperand(0));
    auto element = [&](Index group, Index row, Index column) {
      return Terms::element(c, group, row, e.delinearize(column, columns));
    };
    auto term = [&](Index group, Index row, Index column, Index k) {
      return Terms::term(c, e, element(group, row, column),
                         hasChannelsLast(op, e) ? channelAndTap(e, k, extents)
                                                : e.delinearize(k, extents));
    };
    BlockProduct product = productOf(op);
    if (hasChannelsLast(op, e)) {
      // Neighbours in the second operand are taps. Of an input gradient, the next ones are rows.
      product.runOfA = 0;
      product.depthIsInnerOfA = std::is_same_v<Op, ConvOp>;
    }
    product.emit(
        e, phase,
        [&](Index group, Index row, Index k) {
          return FactorElement{op->getOperand(1),
                               ElementIndex(e, typeOf(op->getOperand(1)).getShape(),
                                            term(group, row, e.constant(0), k).second),
                               Value()};
        },
        [&](Index group, Index column, Index k) {
          ConvolutionTerm read = term(group, e.constant(0), column, k);
          return FactorElement{op->getOperand(0), ElementIndex(e, first.getShape(), read.first),
                               e.allInRange(read.bounds(e, c, first))};
        },
        [&](Index group, Index row, Index column, ValueRange values) {
          SmallVector<Index> numbers;
          for (int64_t n = 0; n < static_cast<int64_t>(values.size()); ++n)
            numbers.push_back(
                ElementIndex(e, typeOf(op.getResult()).getShape(), element(group, row, column + n))
                    .number());
          e.storeFinal(op.getResult(), values, numbers, finish);
        });
  }
};

} // namespace

void dpc::attachConvolutionGridFills(MLIRContext &context) {
  ConvOp::attachInterface<ConvolutionGridFill<ConvTerms, ConvOp, false>>(context);
  ConvInputGradOp::attachInterface<ConvolutionGridFill<ConvInputGradTerms, ConvInputGradOp, false>>(
      context);
  ConvWeightGradOp::attachInterface<
      ConvolutionGridFill<ConvWeightGradTerms, ConvWeightGradOp, true>>(context);
}

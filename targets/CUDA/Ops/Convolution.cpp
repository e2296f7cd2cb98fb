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
/// product is its summed dimension. One factor has the rows of the matrix of `Terms`, the other
/// one, of patches, its columns.
///
/// If channels are before the spatial dimensions, spatial positions are neighbours in memory. In
/// the gradient of the weight, elements that are neighbours along the depth are neighbours in both
/// factors. In the other two products, this only holds for the weight.
///
/// If channels are last, they are neighbours in all three tensors. The channels of the result are
/// then the columns of the product, so that neighbouring sums of a thread are stored together.
template <typename Terms, typename Op, bool isWeightGrad>
struct ConvolutionGridFill
    : GridFillOpInterface::ExternalModel<ConvolutionGridFill<Terms, Op, isWeightGrad>, Op> {
  /// The neighbours along the depth that are neighbours in the second operand. They have all
  /// spatial positions. In the weight of a convolution, they have all channels too.
  static int64_t runOfSecond(const Convolution &c) {
    RankedTensorType type = isWeightGrad ? c.y : c.w;
    return ShapedType::getNumElements(
        type.getShape().drop_front(std::is_same_v<Op, ConvOp> ? 1 : 2));
  }
  /// Whether each patch is one point of the image.
  static bool arePatchesPoints(const Convolution &c) {
    return countTaps(c) == 1 && c.x.getShape().drop_front(2) == c.y.getShape().drop_front(2) &&
           llvm::all_of(c.window.strides, [](int64_t stride) { return stride == 1; }) &&
           llvm::all_of(c.window.padLow, [](int64_t padding) { return padding == 0; });
  }
  /// The neighbours in the inner direction that are neighbours in the first operand. They have
  /// all spatial positions if each patch is one point of the image.
  static int64_t runOfFirst(const Convolution &c) {
    return arePatchesPoints(c) ? ShapedType::getNumElements(c.x.getShape().drop_front(2)) : 0;
  }
  static int64_t countTaps(const Convolution &c) {
    return ShapedType::getNumElements(c.w.getShape().drop_front(2));
  }
  /// Whether the depth has the channels of one tap of the kernel after those of another tap. Then
  /// the elements of a slice mostly are of one tap, which has one position in the image and one
  /// place in the padding. Sums that keep their order have the taps of one channel together.
  static bool hasTapsOutside(const Convolution &c, GridEmitter &e) {
    return !isWeightGrad && !e.orderedSums && countTaps(c) > 1;
  }
  /// The channel and the tap with the number `k` in the order of all channels of one tap after
  /// those of another. `extents` are the number of channels and those of taps.
  static SmallVector<Index> channelAndTap(GridEmitter &e, Index k, ArrayRef<int64_t> extents) {
    // Pieces of channels make expressions simple: a slice begins at a multiple of a piece.
    const int64_t channels = extents[0], piece = std::gcd(channels, int64_t(32)),
                  pieces = channels / piece;
    Index number = e.floorDiv(k, piece);
    SmallVector<Index> positions{e.mod(number, pieces) * piece + e.mod(k, piece)};
    llvm::append_range(positions, e.delinearize(e.floorDiv(number, pieces), extents.drop_front()));
    return positions;
  }
  /// Whether the columns of `Terms` are the rows of the product.
  static bool isTransposed(const Convolution &c) { return c.channelsLast && !isWeightGrad; }
  static BlockProduct productOf(Op op) {
    const Convolution c = op.getConvolution();
    const int64_t columns = ShapedType::getNumElements(Terms::columns(c)),
                  depth = ShapedType::getNumElements(Terms::extents(c));
    BlockProduct product{
        {typeOf(op->getOperand(0)).getElementType(), typeOf(op.getResult()).getElementType()},
        c.groups,
        Terms::rows(c),
        columns,
        depth};
    product.depthIsInnerOfA = true;
    product.depthIsInnerOfB = isWeightGrad;
    product.runOfA = runOfSecond(c);
    product.runOfB = runOfFirst(c);
    product.hasPositions = !isWeightGrad;
    product.hasPatches = !arePatchesPoints(c);
    if (!c.channelsLast)
      return product;
    // Each run has the channels of one group, and in the weight of a convolution all taps.
    if (isWeightGrad) {
      product.depthIsInnerOfA = product.depthIsInnerOfB = false;
      product.runOfA = Terms::rows(c);
      product.runOfB = c.w.getDimSize(1);
    } else {
      std::swap(product.rows, product.columns);
      product.depthIsInnerOfB = std::is_same_v<Op, ConvOp>;
      product.runOfA = Terms::first(c).getDimSize(1) / c.groups;
      product.runOfB = product.depthIsInnerOfB ? depth : product.columns;
    }
    return product;
  }
  /// The product with the order of its depth that `e` wants.
  static BlockProduct productOf(Op op, GridEmitter &e) {
    BlockProduct product = productOf(op);
    const Convolution c = op.getConvolution();
    if (c.channelsLast) {
      // The depth of sums that keep their order has taps that are no neighbours.
      if (e.orderedSums && !isWeightGrad && countTaps(c) > 1)
        product.runOfA = product.runOfB = 0;
    } else if (hasTapsOutside(c, e)) {
      // Neighbours in the second operand are taps. Of an input gradient, the next ones are rows.
      product.runOfA = 0;
      product.depthIsInnerOfA = std::is_same_v<Op, ConvOp>;
    }
    return product;
  }

  bool pays(Operation *self) const { return productOf(cast<Op>(self)).pays(); }
  SmallVector<TileGrid> getGrids(Operation *self, const GridOptions &options) const {
    return productOf(cast<Op>(self)).getGrids(options);
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
    const Convolution c = op.getConvolution();
    SmallVector<int64_t> columns = Terms::columns(c), extents = Terms::extents(c);
    const bool hasChannelColumns = c.channelsLast && isWeightGrad;
    auto element = [&](Index group, Index row, Index column) {
      return Terms::element(c, group, row,
                            hasChannelColumns ? channelAndTap(e, column, columns)
                                              : e.delinearize(column, columns));
    };
    auto term = [&](Index group, Index row, Index column, Index k) {
      return Terms::term(c, e, element(group, row, column),
                         hasTapsOutside(c, e) ? channelAndTap(e, k, extents)
                                              : e.delinearize(k, extents));
    };
    auto indexOf = [&](Value tensor, ArrayRef<Index> positions) {
      return ElementIndex(e, typeOf(tensor).getShape(), c.inOrder(positions));
    };
    auto ofSecond = [&](Index group, Index row, Index k) {
      ConvolutionTerm read = term(group, row, e.constant(0), k);
      return FactorElement{op->getOperand(1), indexOf(op->getOperand(1), read.second), Value()};
    };
    auto ofFirst = [&](Index group, Index column, Index k) {
      ConvolutionTerm read = term(group, e.constant(0), column, k);
      return FactorElement{op->getOperand(0), indexOf(op->getOperand(0), read.first),
                           e.allInRange(read.bounds(e, c, Terms::first(c)))};
    };
    auto store = [&](function_ref<SmallVector<Index>(int64_t n)> placeOf, ValueRange values) {
      SmallVector<Index> numbers;
      for (int64_t n = 0; n < static_cast<int64_t>(values.size()); ++n)
        numbers.push_back(indexOf(op.getResult(), placeOf(n)).number());
      e.storeFinal(op.getResult(), values, numbers, finish);
    };
    const BlockProduct product = productOf(op, e);
    if (isTransposed(c))
      product.emit(e, phase, ofFirst, ofSecond,
                   [&](Index group, Index row, Index column, ValueRange values) {
                     store([&](int64_t n) { return element(group, column + n, row); }, values);
                   });
    else
      product.emit(e, phase, ofSecond, ofFirst,
                   [&](Index group, Index row, Index column, ValueRange values) {
                     store([&](int64_t n) { return element(group, row, column + n); }, values);
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

// Computes without dimensions of extent 1 that a reshape has inserted, so that ops on both sides of
// the reshape can be in one kernel.

#include "passes/Normalize/Passes.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Normalization.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_DROPUNITDIMENSIONS
#include "passes/Normalize/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

namespace {

/// A tensor whose shape is that of `source` with dimensions of extent 1 inserted. The dimensions
/// are numbered in the larger shape.
struct Insertion {
  Value source;
  SmallVector<int64_t> units;

  /// The dimension of the source that is dimension `d` of the tensor.
  int64_t before(int64_t d) const {
    return d - llvm::count_if(units, [&](int64_t unit) { return unit < d; });
  }
  /// The dimensions of the source that are `dimensions` of the tensor, without the inserted ones.
  SmallVector<int64_t> before(ArrayRef<int64_t> dimensions) const {
    SmallVector<int64_t> result;
    for (int64_t d : dimensions)
      if (!llvm::is_contained(units, d))
        result.push_back(before(d));
    return result;
  }
};

std::optional<Insertion> findInsertion(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return std::nullopt;
  ArrayRef<int64_t> from = typeOf(reshape.getInput()).getShape(), to = typeOf(value).getShape();
  Insertion found{reshape.getInput(), {}};
  size_t next = 0;
  for (auto [d, extent] : llvm::enumerate(to))
    if (next < from.size() && from[next] == extent)
      ++next;
    else if (extent == 1)
      found.units.push_back(d);
    else
      return std::nullopt;
  if (next < from.size() || found.units.empty())
    return std::nullopt;
  return found;
}

RankedTensorType withElement(RankedTensorType shape, Type element) {
  return RankedTensorType::get(shape.getShape(), getElementTypeOrSelf(element));
}

/// Replaces the results of `op` by `results`, reshaped to their shapes.
void replaceReshaped(PatternRewriter &rewriter, Operation *op, ValueRange results) {
  Expressions e{rewriter, op->getLoc()};
  SmallVector<Value> reshaped;
  for (auto [result, old] : llvm::zip_equal(results, op->getResults()))
    reshaped.push_back(e.reshape(result, typeOf(old).getShape()));
  rewriter.replaceOp(op, reshaped);
}

/// Replaces an elementwise op on reshaped tensors by one on their sources.
struct ComputeBeforeReshape : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ElementwiseOpInterface interface,
                                PatternRewriter &rewriter) const override {
    Operation *op = interface;
    std::optional<Insertion> found;
    for (Value operand : op->getOperands())
      if (!found)
        found = findInsertion(operand);
    if (!found)
      return failure();
    RankedTensorType shape = typeOf(found->source);
    if (!llvm::all_of(op->getOperands(),
                      [&](Value operand) { return hasSource(operand, *found, shape); }))
      return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(sourceOf(operand, *found, shape, rewriter));
    OperationState state(op->getLoc(), op->getName(), operands, {}, op->getAttrs());
    for (Type type : op->getResultTypes())
      state.addTypes(withElement(shape, type));
    replaceReshaped(rewriter, op, rewriter.create(state)->getResults());
    return success();
  }

private:
  /// Whether an operand without the inserted dimensions can be had without another reshape of a
  /// large tensor.
  static bool hasSource(Value operand, const Insertion &insertion, RankedTensorType shape) {
    if (std::optional<Insertion> own = findInsertion(operand))
      return own->units == insertion.units && typeOf(own->source).getShape() == shape.getShape();
    if (auto constant = operand.getDefiningOp<ConstantOp>())
      return isa<SplatElementsAttr>(constant.getValue());
    return operand.getDefiningOp<BroadcastOp>() != nullptr;
  }

  static Value sourceOf(Value operand, const Insertion &insertion, RankedTensorType shape,
                        PatternRewriter &rewriter) {
    if (std::optional<Insertion> own = findInsertion(operand))
      return own->source;
    Expressions e{rewriter, operand.getLoc()};
    if (auto constant = operand.getDefiningOp<ConstantOp>())
      return e.make<ConstantOp>(DenseElementsAttr::get(
          withElement(shape, operand.getType()),
          cast<SplatElementsAttr>(constant.getValue()).getSplatValue<Attribute>()));
    auto broadcast = operand.getDefiningOp<BroadcastOp>();
    SmallVector<int64_t> kept;
    for (auto [d, extent] :
         llvm::zip_equal(broadcast.getDimensions(), typeOf(broadcast.getInput()).getShape()))
      if (!llvm::is_contained(insertion.units, d))
        kept.push_back(extent);
    return e.broadcast(e.reshape(broadcast.getInput(), kept), shape.getShape(),
                       insertion.before(broadcast.getDimensions()));
  }
};

/// Replaces a sum, or another reduction, of a reshaped tensor by one of its source.
struct ReduceBeforeReshape : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    std::optional<Insertion> found = findInsertion(op.getInput());
    if (!found)
      return failure();
    replaceReshaped(rewriter, op,
                    Expressions{rewriter, op.getLoc()}.reduce(op.getKind(), found->source,
                                                              found->before(op.getDimensions()),
                                                              op.getFirst()));
    return success();
  }
};

struct NormalizeBeforeReshape : OpRewritePattern<NormalizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NormalizeOp op, PatternRewriter &rewriter) const override {
    std::optional<Insertion> found = findInsertion(op.getInput());
    if (!found)
      return failure();
    SmallVector<int64_t> dimensions = found->before(op.getDimensions());
    if (dimensions.empty())
      return failure();
    auto made = rewriter.create<NormalizeOp>(op.getLoc(), found->source, dimensions,
                                             op.getEpsilon(), op.getUncentered());
    replaceReshaped(rewriter, op, made->getResults());
    return success();
  }
};

struct DropUnitDimensions : dpc::impl::DropUnitDimensionsBase<DropUnitDimensions> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ComputeBeforeReshape, ReduceBeforeReshape, NormalizeBeforeReshape>(&getContext());
    // If a limit ends the work early, the program is right all the same.
    (void)applyPatternsAndFoldGreedily(getOperation(), std::move(patterns));
  }
};

} // namespace

// Lets ops read parts of a tensor where they lie.

#include "passes/Lowering/KernelNeeds.h"
#include "passes/Lowering/Passes.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Fusion.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_READINPLACE
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

namespace {

/// A slice of a reshaped tensor: the shape of the tensor, and the bounds of the slice.
struct ReshapedSlice {
  SmallVector<int64_t> shape, starts, limits;
};

/// Returns the slice that a reshape of `slice` to `shape` is of the reshaped operand of `slice`.
/// Each dimension of the slice must be a product of consecutive dimensions of `shape`, and if it
/// is cut, at a multiple of the product of all but the first of these. Returns nullopt if this
/// does not hold.
std::optional<ReshapedSlice> reshaped(SliceOp slice, ArrayRef<int64_t> shape) {
  ReshapedSlice result;
  size_t next = 0;
  for (auto [d, extent] : llvm::enumerate(typeOf(slice.getResult()).getShape())) {
    if (extent == 0)
      return std::nullopt;
    const size_t first = next;
    int64_t product = 1;
    do
      product *= next < shape.size() ? shape[next++] : 0;
    while (product != 0 && product < extent);
    if (product != extent)
      return std::nullopt;
    const int64_t inner = product / shape[first], start = slice.getStarts()[d],
                  limit = slice.getLimits()[d],
                  all = typeOf(slice.getInput()).getDimSize(static_cast<unsigned>(d));
    if (start % inner != 0 || limit % inner != 0 || all % inner != 0)
      return std::nullopt;
    for (size_t i = first; i < next; ++i) {
      result.shape.push_back(i == first ? all / inner : shape[i]);
      result.starts.push_back(i == first ? start / inner : 0);
      result.limits.push_back(i == first ? limit / inner : shape[i]);
    }
  }
  return next == shape.size() ? std::optional(result) : std::nullopt;
}

class InPlaceReader {
public:
  /// If `operand` is a part of a tensor, perhaps reshaped, whose innermost rows are complete, lets
  /// the owner of `operand` read the part in the tensor.
  void read(OpOperand &operand) {
    auto reshape = operand.get().getDefiningOp<ReshapeOp>();
    auto slice = (reshape ? reshape.getInput() : operand.get()).getDefiningOp<SliceOp>();
    if (!slice || !llvm::all_of(slice.getStrides(), [](int64_t stride) { return stride == 1; }))
      return;
    const auto part = reshaped(slice, typeOf(operand.get()).getShape());
    if (!part || part->starts.empty() || part->starts.back() != 0 ||
        part->limits.back() != part->shape.back())
      return;
    OpBuilder builder(operand.getOwner());
    Expressions e{builder, slice.getLoc()};
    const SmallVector<int64_t> strides(part->shape.size(), 1);
    auto own = builder.create<SliceOp>(slice.getLoc(), whole(slice.getInput(), part->shape, e),
                                       part->starts, part->limits, strides);
    own->setAttr(kReadInPlaceAttrName, builder.getUnitAttr());
    operand.set(own);
    if (reshape && reshape->use_empty())
      reshape.erase();
    if (slice->use_empty())
      slice.erase();
  }

private:
  /// Returns `tensor` with the shape `shape`. All readers share the reshape.
  Value whole(Value tensor, ArrayRef<int64_t> shape, Expressions e) {
    if (typeOf(tensor).getShape() == shape)
      return tensor;
    for (Operation *user : tensor.getUsers())
      if (auto known = dyn_cast<ReshapeOp>(user);
          known && typeOf(known.getResult()).getShape() == shape && made.contains(known))
        return known;
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointAfterValue(tensor);
    Value view = e.reshape(tensor, shape);
    made.insert(view.getDefiningOp());
    return view;
  }

  llvm::DenseSet<Operation *> made;
};

struct ReadInPlacePass : dpc::impl::ReadInPlaceBase<ReadInPlacePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *target = getTarget(module);
    if (!target)
      return signalPassFailure();
    InPlaceReader reader;
    module.walk([&](Operation *op) {
      if (target->readsPartsInPlace(op))
        for (OpOperand &operand : op->getOpOperands())
          reader.read(operand);
    });
  }
};

} // namespace

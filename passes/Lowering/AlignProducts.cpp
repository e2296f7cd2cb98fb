// Pads the matrices of large products to rows whose length the target multiplies fast.

#include "passes/Lowering/KernelNeeds.h"
#include "passes/Lowering/Passes.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Fusion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_ALIGNPRODUCTS
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

/// A factor is padded only if each of its elements takes part in this many multiplications. A
/// device multiplies about a hundred times while it copies one element, and a product of matrices
/// with unaligned rows takes several times as long.
static const int64_t kLeastReuse = 64;
/// A dimension is padded if this adds at most one element to this many.
static const int64_t kMostPadding = 8;
/// Rows of so many aligned pieces are whole lines of memory (128 bytes). Then no access of
/// neighbours touches a line more than necessary.
static const int64_t kPiecesPerLine = 8;
/// A dimension is padded to whole lines if this adds at most one element to this many.
static const int64_t kMostLinePadding = 64;

namespace {

/// Whether a reshape of `before` to `after` keeps the rows: their elements are neighbours along the
/// last dimension of both.
bool keepsRows(ArrayRef<int64_t> before, ArrayRef<int64_t> after) {
  return !before.empty() && !after.empty() && before.back() == after.back();
}

/// `shape` with rows of `extent` elements.
SmallVector<int64_t> withRows(ArrayRef<int64_t> shape, int64_t extent) {
  SmallVector<int64_t> resized(shape);
  resized.back() = extent;
  return resized;
}

/// Pads values at the end of one dimension. Products that read the same value share its padded
/// copy.
class Paddings {
public:
  /// Returns `value` with `extent` elements along `dim`. The new elements are 0. `reader` is an op
  /// that will read the result. Readers of one value must come in program order.
  Value pad(Value value, int64_t dim, int64_t extent, Operation *reader) {
    if (Value padded = known.lookup({value, {dim, extent}}))
      return padded;
    return known[{value, {dim, extent}}] = makePadded(value, dim, extent, reader);
  }

  /// Erases what no op reads any more. Nothing can be padded after that.
  void eraseUnused() {
    for (Operation *reshape : passed)
      if (reshape->use_empty())
        reshape->erase();
  }

private:
  Value makePadded(Value value, int64_t dim, int64_t extent, Operation *reader) {
    // The copy must be visible to all readers of the value, so it is in the block of the value.
    Operation *place = value.getParentBlock()->findAncestorOpInBlock(*reader);
    OpBuilder builder(place);
    Expressions e{builder, reader->getLoc()};
    RankedTensorType type = typeOf(value);
    // The pad of a reshaped tensor would be a copy. Loops that compute the tensor can pad it.
    if (auto reshape = value.getDefiningOp<ReshapeOp>();
        reshape && dim + 1 == type.getRank() &&
        keepsRows(typeOf(reshape.getInput()).getShape(), type.getShape())) {
      passed.insert(reshape);
      Value input = reshape.getInput(),
            rows = pad(input, typeOf(input).getRank() - 1, extent, reader);
      return e.reshape(rows, withRows(type.getShape(), extent));
    }
    SmallVector<int64_t> none(type.getRank(), 0), high = none;
    high[dim] = extent - type.getDimSize(dim);
    Value zero = e.splat(RankedTensorType::get({}, type.getElementType()), 0);
    return e.make<PadOp>(value, zero, none, high, none);
  }

  llvm::DenseMap<std::pair<Value, std::pair<int64_t, int64_t>>, Value> known;
  llvm::SetVector<Operation *> passed; // reshapes whose operand is padded
};

/// A dimension of a product: its number in the factors and in the result, nullopt if it is none
/// of theirs.
struct ProductDim {
  std::optional<int64_t> lhs, rhs, result;
};

class Aligner {
public:
  Aligner(const Target &target, const CodeOptions &options) : target(target), options(options) {}

  /// Pads the factors of `dot` along each dimension that is innermost in a matrix and has rows of
  /// another length than the target wants. Readers of the result get the part of it that the
  /// unpadded factors give.
  void align(DotOp dot) {
    const int64_t alignment = target.getProductAlignment(dot, options);
    SmallVector<ProductDim> dims;
    for (const ProductDim &dim : dimsOf(dot))
      if (isInner(dim, dot) && extentOf(dim, dot) % alignment != 0)
        dims.push_back(dim);
    if (dims.empty() || !pays(dot, dims, alignment))
      return;
    Value lhs = dot.getLhs(), rhs = dot.getRhs();
    SmallVector<int64_t> extents(typeOf(dot.getResult()).getShape());
    for (const ProductDim &dim : dims) {
      const int64_t extent = paddedExtent(extentOf(dim, dot), alignment);
      if (dim.lhs)
        lhs = paddings.pad(lhs, *dim.lhs, extent, dot);
      if (dim.rhs)
        rhs = paddings.pad(rhs, *dim.rhs, extent, dot);
      if (dim.result)
        extents[*dim.result] = extent;
    }
    dot.getLhsMutable().set(lhs);
    dot.getRhsMutable().set(rhs);
    const RankedTensorType type = typeOf(dot.getResult());
    if (type.getShape() == ArrayRef<int64_t>(extents))
      return;
    dot.getResult().setType(type.clone(extents));
    cropForReaders(dot.getResult(), type.getShape());
  }

  void eraseUnused() { paddings.eraseUnused(); }

private:
  static SmallVector<ProductDim> dimsOf(DotOp dot) {
    SmallVector<ProductDim> dims;
    auto result = static_cast<int64_t>(dot.getLhsBatch().size());
    for (int64_t d : dot.getLhsFree())
      dims.push_back({d, std::nullopt, result++});
    for (int64_t d : dot.getRhsFree())
      dims.push_back({std::nullopt, d, result++});
    for (auto [lhs, rhs] : llvm::zip_equal(dot.getLhsContract(), dot.getRhsContract()))
      dims.push_back({lhs, rhs, std::nullopt});
    return dims;
  }

  static int64_t extentOf(const ProductDim &dim, DotOp dot) {
    return dim.lhs ? typeOf(dot.getLhs()).getDimSize(*dim.lhs)
                   : typeOf(dot.getRhs()).getDimSize(*dim.rhs);
  }

  /// Whether the elements of a matrix that follow each other in memory are neighbours along `dim`.
  static bool isInner(const ProductDim &dim, DotOp dot) {
    auto isLast = [](std::optional<int64_t> d, Value tensor) {
      return d && *d + 1 == typeOf(tensor).getRank();
    };
    return isLast(dim.lhs, dot.getLhs()) || isLast(dim.rhs, dot.getRhs()) ||
           isLast(dim.result, dot.getResult());
  }

  /// The extent to which a dimension with `extent` elements is padded.
  static int64_t paddedExtent(int64_t extent, int64_t alignment) {
    const auto lines = static_cast<int64_t>(llvm::alignTo(extent, alignment * kPiecesPerLine));
    return (lines - extent) * kMostLinePadding <= extent
               ? lines
               : static_cast<int64_t>(llvm::alignTo(extent, alignment));
  }

  /// Whether the product becomes faster if all of `dims` are padded.
  static bool pays(DotOp dot, ArrayRef<ProductDim> dims, int64_t alignment) {
    const int64_t rows = countAlong(dot.getLhs(), dot.getLhsFree()),
                  columns = countAlong(dot.getRhs(), dot.getRhsFree());
    return llvm::all_of(dims, [&](const ProductDim &dim) {
      const int64_t extent = extentOf(dim, dot);
      const int64_t added = paddedExtent(extent, alignment) - extent;
      return added * kMostPadding <= extent && (!dim.lhs || columns >= kLeastReuse) &&
             (!dim.rhs || rows >= kLeastReuse);
    });
  }

  /// Gives the readers of `padded` a slice with the extents `shape`. Readers whose loops can
  /// compute their operands have a slice of their own, and read the elements where they are. If a
  /// reshape keeps the rows, its readers get slices of the reshaped rows. All other readers share a
  /// copy.
  static void cropForReaders(Value padded, ArrayRef<int64_t> shape) {
    const SmallVector<int64_t> starts(shape.size(), 0), strides(shape.size(), 1);
    SmallVector<OpOperand *> uses(llvm::make_pointer_range(padded.getUses()));
    OpBuilder builder(padded.getContext());
    builder.setInsertionPointAfterValue(padded);
    auto crop = [&] {
      return builder.create<SliceOp>(padded.getLoc(), padded, starts, shape, strides);
    };
    SliceOp shared;
    const ArrayRef<int64_t> all = typeOf(padded).getShape();
    const bool cutsRows = all.drop_back() == shape.drop_back();
    for (OpOperand *use : uses) {
      if (auto reshape = dyn_cast<ReshapeOp>(use->getOwner());
          reshape && cutsRows && keepsRows(shape, typeOf(reshape.getResult()).getShape())) {
        const SmallVector<int64_t> cropped(typeOf(reshape.getResult()).getShape());
        OpBuilder before(reshape);
        Value rows =
            Expressions{before, reshape.getLoc()}.reshape(padded, withRows(cropped, all.back()));
        reshape.replaceAllUsesWith(rows);
        reshape.erase();
        cropForReaders(rows, cropped);
        continue;
      }
      if (isReadInLoops(use->getOwner())) {
        SliceOp own = crop();
        own->setAttr(kReadInPlaceAttrName, builder.getUnitAttr());
        use->set(own);
        continue;
      }
      if (!shared)
        shared = crop();
      use->set(shared);
    }
  }

  static bool isReadInLoops(Operation *reader) {
    const FusionKind kind = getFusionKind(reader);
    return kind == FusionKind::elementwise || kind == FusionKind::reduction ||
           isa<DecomposableOpInterface>(reader);
  }

  const Target &target;
  const CodeOptions &options;
  Paddings paddings;
};

struct AlignProductsPass : dpc::impl::AlignProductsBase<AlignProductsPass> {
  using AlignProductsBase::AlignProductsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *target = getTarget(module);
    if (!target)
      return signalPassFailure();
    const CodeOptions options = codeOptionsOf(module, recompute, orderedSums, factors, products);
    SmallVector<DotOp> dots;
    module.walk([&](DotOp dot) { dots.push_back(dot); });
    Aligner aligner(*target, options);
    for (DotOp dot : dots)
      aligner.align(dot);
    aligner.eraseUnused();
  }
};

} // namespace

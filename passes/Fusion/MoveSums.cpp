// Lets sums over columns read the shape of a tensor that a kernel computes or reads.

#include "passes/Fusion/Passes.h"
#include "passes/Machine/MachineTarget.h"
#include "targets/Target.h"

#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Fusion.h"
#include "dialects/NN/IR/Reduction.h"
#include "dialects/NN/IR/Shape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_MOVESUMS
#include "passes/Fusion/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

/// All values that have the elements of `value` in the same order: its source, and the reshapes of
/// that.
static llvm::SetVector<Value> reshapesOf(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  llvm::SetVector<Value> all;
  all.insert(value);
  for (size_t next = 0; next < all.size(); ++next)
    for (Operation *user : all[next].getUsers())
      if (auto reshape = dyn_cast<ReshapeOp>(user))
        all.insert(reshape.getResult());
  return all;
}

/// The number of dimensions of `shape` after which rows of `columns` elements begin. Nullopt if
/// there is none, or if the tensor is one row.
static std::optional<int64_t> rowDimension(ArrayRef<int64_t> shape, int64_t columns) {
  int64_t product = 1;
  for (int64_t d = shape.size(); d > 0; --d) {
    if (product == columns && d < int64_t(shape.size()))
      return d;
    product *= shape[d - 1];
  }
  return std::nullopt;
}

namespace {
struct MoveSumsPass : dpc::impl::MoveSumsBase<MoveSumsPass> {
  void runOnOperation() override {
    target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<ReduceOp> sums;
    getOperation().walk([&](ReduceOp op) {
      if (target->sumsColumns(op))
        sums.push_back(op);
    });
    for (ReduceOp sum : sums)
      move(sum);
  }

private:
  /// How well a sum beside other ops can read `value`: 2 if an elementwise op computes it, 1 if ops
  /// of kernels with loops over its elements read it.
  int rank(Value value) const {
    Operation *op = value.getDefiningOp();
    if (op && (getFusionKind(op) == FusionKind::elementwise || isa<PadOp>(op)))
      return 2;
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      const FusionKind kind = getFusionKind(user);
      return kind == FusionKind::elementwise ||
             (kind == FusionKind::reduction && !target->sumsColumns(user));
    });
  }

  /// Whether `sum` can be computed where `value` is known: before all its readers.
  static bool isKnown(Value value, ReduceOp sum) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != sum->getBlock())
      return !op || op->isProperAncestor(sum) ||
             value.getParentRegion()->isAncestor(sum->getParentRegion());
    return op->isBeforeInBlock(sum) || llvm::all_of(sum->getUsers(), [&](Operation *user) {
             Operation *reader = sum->getBlock()->findAncestorOpInBlock(*user);
             return reader && op->isBeforeInBlock(reader);
           });
  }

  void move(ReduceOp sum) {
    const int64_t columns = typeOf(sum.getResult()).getNumElements();
    // Conversions move with the sum.
    SmallVector<ConvertOp> conversions;
    Value source = sum.getInput();
    while (auto convert = source.getDefiningOp<ConvertOp>()) {
      conversions.push_back(convert);
      source = convert.getInput();
    }
    Value best = source;
    for (Value value : reshapesOf(source))
      if (rank(value) > rank(best) && rowDimension(typeOf(value).getShape(), columns) &&
          isKnown(value, sum))
        best = value;
    if (best == source)
      return;
    OpBuilder builder(sum);
    if (Operation *op = best.getDefiningOp();
        op && op->getBlock() == sum->getBlock() && sum->isBeforeInBlock(op))
      builder.setInsertionPointAfter(op);
    ArrayRef<int64_t> shape = typeOf(best).getShape();
    Value terms = best;
    for (ConvertOp convert : llvm::reverse(conversions))
      terms = builder.create<ConvertOp>(convert.getLoc(),
                                        withShape(typeOf(convert.getResult()), shape), terms);
    const int64_t first = *rowDimension(shape, columns);
    Value moved = builder.create<ReduceOp>(
        sum.getLoc(), withShape(typeOf(sum.getResult()), shape.drop_front(first)), sum.getKind(),
        terms, llvm::to_vector(llvm::seq<int64_t>(0, first)), /*first=*/false);
    if (moved.getType() != sum.getType())
      moved = builder.create<ReshapeOp>(sum.getLoc(), sum.getType(), moved);
    sum.replaceAllUsesWith(moved);
    sum.erase();
    for (ConvertOp convert : conversions)
      if (convert->use_empty())
        convert.erase();
  }

  const Target *target = nullptr;
};
} // namespace

// Peels the last microbatch off a loop, so that ranks can start to all-reduce each gradient while
// the rest of that microbatch is computed.

#include "passes/Overlap/Passes.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/NN/IR/Conversions.h"
#include "dialects/NN/IR/Expressions.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_PEELMICROBATCHES
#include "passes/Overlap/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using dist::MicroKind;
using dist::MicroOp;

/// Whether the ranks reduce `value` by an all-reduce or a reduce-scatter, possibly after a
/// conversion or a reshape.
static bool isReduced(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (isa<dist::AllReduceOp, dist::ReduceScatterOp>(user))
      return true;
    return (isa<nn::ReshapeOp>(user) || nn::isConversion(user)) && isReduced(user->getResult(0));
  });
}

namespace {

/// Peels the last iteration off one loop.
class MicroPeeling {
public:
  explicit MicroPeeling(MicroOp loop) : loop(loop), builder(loop), e{builder, loop.getLoc()} {}

  void run() {
    IRMapping mapping;
    Block &body = loop.getBodyBlock();
    SmallVector<Value> inputs(loop.getInputs());
    for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
      Value input = inputs[index];
      if (loop.getOperandKind(index) == MicroKind::sliced)
        std::tie(inputs[index], input) = split(input, argument);
      mapping.map(argument, input);
    }
    MicroOp head = buildHead(inputs);
    for (Operation &op : body.without_terminator())
      clone(op, mapping);
    Operation *yield = body.getTerminator();
    for (auto [index, result] : llvm::enumerate(loop.getResults())) {
      Value last = mapping.lookup(yield->getOperand(index));
      Value before = head.getResult(index);
      result.replaceAllUsesWith(loop.getResultKind(index) == MicroKind::summed
                                    ? addAfter(head, before, last)
                                    : join(result.getType(), before, last));
    }
    loop.erase();
  }

private:
  /// The type of all slices of `stacked` but the last.
  RankedTensorType headType(Type stacked) {
    auto type = cast<RankedTensorType>(stacked);
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = loop.getCount() - 1;
    return nn::withShape(type, shape);
  }

  /// Returns two views of `stacked`: all slices but the last, and the last slice.
  std::pair<Value, Value> split(Value stacked, Value slice) {
    RankedTensorType head = headType(stacked.getType());
    Value flat = e.reshape(stacked, {nn::typeOf(stacked).getNumElements()});
    auto parts = builder.create<dist::UnpackOp>(e.loc, TypeRange{head, slice.getType()}, flat,
                                                ArrayRef<int64_t>{0, head.getNumElements()});
    return {parts.getResult(0), parts.getResult(1)};
  }

  /// The inverse of `split`: joins `head`, which has all slices but the last, and `last` to a
  /// tensor of type `stacked`.
  Value join(Type stacked, Value head, Value last) {
    auto type = cast<RankedTensorType>(stacked);
    auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
    Value all =
        builder.create<dist::PackOp>(e.loc, flat, ValueRange{head, last},
                                     ArrayRef<int64_t>{0, nn::typeOf(head).getNumElements()});
    return e.reshape(all, type.getShape());
  }

  /// Returns `before` + `last`. The addition is placed directly after the op that computes `last`,
  /// so that the ranks can reduce the sum as soon as it exists.
  Value addAfter(MicroOp head, Value before, Value last) {
    OpBuilder::InsertionGuard guard(builder);
    Operation *maker = last.getDefiningOp();
    if (maker && head->isBeforeInBlock(maker))
      builder.setInsertionPointAfter(maker);
    return e.add(before, last);
  }

  /// Builds the loop over all microbatches but the last.
  MicroOp buildHead(ValueRange inputs) {
    SmallVector<Type> types;
    for (auto [index, type] : llvm::enumerate(loop.getResultTypes()))
      types.push_back(loop.getResultKind(index) == MicroKind::stacked ? headType(type) : type);
    OperationState state(e.loc, MicroOp::getOperationName());
    MicroOp::build(builder, state, types, builder.getI64IntegerAttr(loop.getCount() - 1),
                   loop.getAxisAttr(), inputs, loop.getOperandKindsAttr(),
                   loop.getResultKindsAttr());
    IRMapping mapping;
    loop.getBody().cloneInto(state.regions[0].get(), mapping);
    return cast<MicroOp>(builder.create(state));
  }

  /// Clones `op` for the last microbatch. The index along the loop's axis becomes a constant.
  void clone(Operation &op, IRMapping &mapping) {
    auto index = dyn_cast<dist::AxisIndexOp>(op);
    if (!index || index.getAxis() != loop.getAxis()) {
      builder.clone(op, mapping);
      return;
    }
    mapping.map(index.getResult(), e.splat(index.getType(), loop.getCount() - 1));
  }

  MicroOp loop;
  OpBuilder builder;
  nn::Expressions e;
};

struct PeelMicrobatchesPass : dpc::impl::PeelMicrobatchesBase<PeelMicrobatchesPass> {
  using PeelMicrobatchesBase::PeelMicrobatchesBase;

  void runOnOperation() override {
    SmallVector<MicroOp> loops(getOperation().getOps<MicroOp>());
    for (MicroOp loop : loops) {
      int64_t bytes = getReducedBytes(loop);
      if (loop.getCount() < 2 || bytes == 0 || bytes < smallestBytes)
        continue;
      if (explain)
        loop.emitRemark("sums of ") << bytes << " bytes over ranks start in the last of "
                                    << loop.getCount() << " microbatches";
      MicroPeeling(loop).run();
    }
  }

private:
  /// The bytes of the loop's summed results that the ranks reduce.
  static int64_t getReducedBytes(MicroOp loop) {
    int64_t bytes = 0;
    for (auto [index, result] : llvm::enumerate(loop.getResults()))
      if (loop.getResultKind(index) == MicroKind::summed && isReduced(result))
        bytes += tensorBytes(result.getType());
    return bytes;
  }
};

} // namespace

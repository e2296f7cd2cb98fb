// Finds gathers and scatters whose index tuples contain the number of their own sample, e.g. the
// tuple (b, i) of sample b. Rewrites these ops so that their samples can be sharded, mostly by
// making the sample a batch dimension.

#include "passes/Normalize/ConstantValues.h"
#include "passes/Normalize/LastDimension.h"
#include "passes/Normalize/Passes.h"

#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Indexing.h"
#include "dialects/NN/Ranges/Ranges.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_FORMBATCHGATHERS
#include "passes/Normalize/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::nn;

namespace {

/// Facts about index tensors. Keeps references to values, so no op may be erased while this object
/// is in use.
class IndexFacts {
public:
  explicit IndexFacts(ModuleOp module) : constants(module) {}

  /// Whether `value` is constant, and each element equals the element's own index along `dim`,
  /// multiplied by `factor`.
  bool isOwnIndex(Value value, int64_t dim, int64_t factor = 1) {
    std::optional<HostTensor> held = constants.get(value);
    if (!held)
      return false;
    size_t at = 0;
    bool isOwn = true;
    forEachIndex(held->getShape(), [&](ArrayRef<int64_t> index) {
      isOwn &= held->ints[at++] == index[dim] * factor;
    });
    return isOwn;
  }

  bool isConstant(Value value) { return constants.get(value).has_value(); }

  bool isWithin(Value value, int64_t low, int64_t high) {
    return ranges.isWithin(value, low, high);
  }

  /// If `value` is the product of some x and the constant `factor`, returns x. Otherwise returns
  /// null.
  Value factorOf(Value value, int64_t factor) {
    auto product = value.getDefiningOp<MulOp>();
    if (!product)
      return nullptr;
    if (constants.getSplat(product.getRhs()) == double(factor))
      return product.getLhs();
    if (constants.getSplat(product.getLhs()) == double(factor))
      return product.getRhs();
    return nullptr;
  }

  /// Returns `value` without selects whose condition is known. For example, the select that wraps a
  /// negative index is removed if the index is never negative.
  Value resolve(Value value) {
    while (auto select = value.getDefiningOp<SelectOp>()) {
      std::optional<bool> truth = ranges.getTruth(select.getCondition());
      if (!truth)
        break;
      value = *truth ? select.getOnTrue() : select.getOnFalse();
    }
    return value;
  }

private:
  ConstantValues constants;
  IntegerRanges ranges;
};

/// Index tuples, and the number of batch dimensions of the tensor that they index.
struct Tuples {
  Value indices;
  int64_t batchDims;
};

/// Rewrites ops one by one. The replaced ops stay in the block, without uses.
class BatchGatherFormer {
public:
  explicit BatchGatherFormer(IndexFacts &facts) : facts(facts) {}

  void form(GatherNDOp op) {
    OpBuilder builder(op);
    Expressions e{builder, op.getLoc()};
    if (std::optional<SmallVector<int64_t>> places = placesOf(e, op))
      return op.replaceAllUsesWith(repeat(e, op, *places));
    if (std::optional<Tuples> tuples =
            shorten(e, op.getInput(), {op.getIndices(), int64_t(op.getBatchDims())}))
      return op.replaceAllUsesWith(
          e.make<GatherNDOp>(op.getInput(), tuples->indices, tuples->batchDims).getResult());
    if (isSecondOwn(e, op))
      op.replaceAllUsesWith(pick(
          e, op.getInput(), facts.resolve(sliceLast(builder, op.getLoc(), op.getIndices(), 0, 1)),
          typeOf(op).getShape()));
  }

  void form(ScatterNDOp op) {
    OpBuilder builder(op);
    Expressions e{builder, op.getLoc()};
    if (op.getKind() == ScatterKind::none && writesAll(e, op))
      return op.replaceAllUsesWith(op.getUpdates());
    if (std::optional<Tuples> tuples =
            shorten(e, op.getInput(), {op.getIndices(), int64_t(op.getBatchDims())}))
      op.replaceAllUsesWith(e.make<ScatterNDOp>(op.getKind(), op.getInput(), tuples->indices,
                                                op.getUpdates(), tuples->batchDims)
                                .getResult());
  }

  /// Rewrites a gather of rows from a table whose first dimension is a product of samples and rows.
  /// `own` is the number of a row within its sample. If the rows of a sample are contiguous, sample
  /// b takes row b * rows + own. If instead the rows with equal numbers are contiguous, sample b
  /// takes row own * samples + b.
  void form(GatherOp op) {
    ArrayRef<int64_t> table = typeOf(op.getTable()).getShape(),
                      shape = typeOf(op.getIndices()).getShape();
    if (op.getDimension() != 0 || op.getPadding() || shape.empty() || shape[0] < 2 ||
        table[0] % shape[0] != 0)
      return;
    int64_t samples = shape[0], rows = table[0] / samples;
    auto add = facts.resolve(op.getIndices()).getDefiningOp<AddOp>();
    if (!add || rows < 2)
      return;
    OpBuilder builder(op);
    Expressions e{builder, op.getLoc()};
    auto view = [&](int64_t outer, int64_t inner) {
      SmallVector<int64_t> split{outer, inner};
      llvm::append_range(split, table.drop_front());
      return e.reshape(op.getTable(), split);
    };
    for (auto [term, offset] :
         {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
      if (facts.isWithin(term, 0, rows - 1) && facts.isOwnIndex(offset, 0, rows)) {
        SmallVector<int64_t> tuples(shape);
        tuples.push_back(1);
        Value input = view(samples, rows);
        Value indices = e.reshape(facts.resolve(term), tuples);
        return op.replaceAllUsesWith(
            e.make<GatherNDOp>(input, indices, /*batchDims=*/1).getResult());
      }
      Value own = facts.factorOf(term, samples);
      if (own && facts.isWithin(own, 0, rows - 1) && facts.isOwnIndex(offset, 0))
        return op.replaceAllUsesWith(
            pick(e, view(rows, samples), facts.resolve(own), typeOf(op).getShape()));
    }
  }

private:
  /// Removes each leading component that equals the index of the tuple itself (e.g. b in the tuple
  /// (b, i) of sample b), and counts it as a batch dimension. Keeps at least one component. nullopt
  /// if no component can be removed.
  std::optional<Tuples> shorten(Expressions e, Value input, Tuples tuples) {
    int64_t before = tuples.batchDims;
    while (isLeadingOwn(e, typeOf(input).getShape(), tuples))
      tuples = {
          sliceLast(e.builder, e.loc, tuples.indices, 1, typeOf(tuples.indices).getShape().back()),
          tuples.batchDims + 1};
    if (tuples.batchDims == before)
      return std::nullopt;
    tuples.indices = facts.resolve(tuples.indices);
    return tuples;
  }

  bool isLeadingOwn(Expressions e, ArrayRef<int64_t> input, Tuples tuples) {
    ArrayRef<int64_t> shape = typeOf(tuples.indices).getShape();
    int64_t d = tuples.batchDims;
    // A batch of one sample cannot be sharded, so it needs no batch dimension.
    if (shape.back() < 2 || d + 1 >= int64_t(shape.size()) || shape[d] != input[d] || shape[d] < 2)
      return false;
    return facts.isOwnIndex(sliceLast(e.builder, e.loc, tuples.indices, 0, 1), d);
  }

  /// Whether the tuples name each slice of the input once, in order: component k of a tuple is the
  /// index of the tuple along the dimension that it indexes.
  bool writesAll(Expressions e, ScatterNDOp op) {
    ArrayRef<int64_t> input = typeOf(op.getInput()).getShape(),
                      shape = typeOf(op.getIndices()).getShape();
    const int64_t batch = op.getBatchDims(), length = shape.back();
    if (shape.drop_back() != input.take_front(batch + length) || !facts.isConstant(op.getIndices()))
      return false;
    return llvm::all_of(llvm::seq<int64_t>(0, length), [&](int64_t i) {
      return facts.isOwnIndex(sliceLast(e.builder, e.loc, op.getIndices(), i, i + 1), batch + i);
    });
  }

  /// Whether the tuples are pairs whose second component is the number of the tuple's own sample.
  bool isSecondOwn(Expressions e, GatherNDOp op) {
    ArrayRef<int64_t> input = typeOf(op.getInput()).getShape(),
                      shape = typeOf(op.getIndices()).getShape();
    return op.getBatchDims() == 0 && shape.size() > 1 && shape.back() == 2 &&
           shape[0] == input[1] && shape[0] > 1 &&
           facts.isOwnIndex(sliceLast(e.builder, e.loc, op.getIndices(), 1, 2), 0);
  }

  /// Gathers rows from `input`, which has the shape [rows, samples, ..]. For each sample, `own` has
  /// the numbers of the rows to gather. Both `own` and the result have the samples as first
  /// dimension. The result is reshaped to `shape`.
  static Value pick(Expressions e, Value input, Value own, ArrayRef<int64_t> shape) {
    SmallVector<int64_t> taken(typeOf(input).getShape());
    int64_t samples = taken[1];
    taken[0] = typeOf(own).getNumElements() / samples;
    Value indices = e.transpose(e.reshape(own, {samples, taken[0]}), {1, 0});
    Value picked =
        e.make<GatherElementsOp>(input, e.broadcast(indices, taken, {0, 1}), /*dimension=*/0);
    auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, taken.size()));
    std::swap(permutation[0], permutation[1]);
    return e.reshape(e.transpose(picked, permutation), shape);
  }

  /// Returns, for each input dimension, the result dimension that it becomes, or -1 if its extent
  /// is 1 and a component indexes it. The tuples must read the complete input in order: each
  /// component equals the index of the tuple along some dimension, and a later component uses a
  /// later dimension. A component that indexes a dimension of extent 1 is 0 instead. Returns
  /// nullopt for other tuples.
  std::optional<SmallVector<int64_t>> placesOf(Expressions e, GatherNDOp op) {
    ArrayRef<int64_t> input = typeOf(op.getInput()).getShape(),
                      shape = typeOf(op.getIndices()).getShape();
    int64_t batch = op.getBatchDims(), length = shape.back(), tupleRank = shape.size() - 1;
    if (!facts.isConstant(op.getIndices()))
      return std::nullopt;
    auto places = llvm::to_vector(llvm::seq<int64_t>(0, batch));
    int64_t next = batch;
    for (int64_t i = 0; i < length; ++i) {
      Value component = sliceLast(e.builder, e.loc, op.getIndices(), i, i + 1);
      if (input[batch + i] == 1) {
        if (!facts.isOwnIndex(component, 0, /*factor=*/0))
          return std::nullopt;
        places.push_back(-1);
        continue;
      }
      while (next < tupleRank &&
             (shape[next] != input[batch + i] || !facts.isOwnIndex(component, next)))
        ++next;
      if (next == tupleRank)
        return std::nullopt;
      places.push_back(next++);
    }
    for (size_t d = batch + length; d < input.size(); ++d)
      places.push_back(tupleRank + d - batch - length);
    return places;
  }

  static Value repeat(Expressions e, GatherNDOp op, ArrayRef<int64_t> places) {
    SmallVector<int64_t> dims, shape;
    for (auto [place, extent] : llvm::zip_equal(places, typeOf(op.getInput()).getShape()))
      if (place >= 0) {
        dims.push_back(place);
        shape.push_back(extent);
      }
    return e.broadcast(e.reshape(op.getInput(), shape), typeOf(op).getShape(), dims);
  }

  IndexFacts &facts;
};

struct FormBatchGathersPass : dpc::impl::FormBatchGathersBase<FormBatchGathersPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      IndexFacts facts(getOperation());
      BatchGatherFormer former(facts);
      Block &block = function.front();
      formAll<GatherNDOp>(block, former);
      formAll<ScatterNDOp>(block, former);
      formAll<GatherOp>(block, former);
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isOpTriviallyDead(&op))
          op.erase();
    }
  }

private:
  template <typename Op> static void formAll(Block &block, BatchGatherFormer &former) {
    SmallVector<Op> found(block.getOps<Op>());
    for (Op op : found)
      former.form(op);
  }
};

} // namespace

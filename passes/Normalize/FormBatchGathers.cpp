// Finds gathers and scatters whose indices name their own sample, and makes the
// sample a batch dimension of them.

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

/// What is known of index tensors. Remembers values: none are erased meanwhile.
class IndexFacts {
public:
  explicit IndexFacts(ModuleOp module) : constants(module) {}

  /// Whether each element of `value` is constant, and its index along `dim`
  /// times `factor`.
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

  /// x, where `value` is the product of x and `factor`; or null.
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

  /// `value` without choices whose outcome is known: an index that is never
  /// negative is not wrapped.
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

/// Index tuples, and how many dimensions of what they index are batch.
struct Tuples {
  Value indices;
  int64_t batchDims;
};

/// Rewrites ops one by one; what they leave behind has no uses.
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
    if (std::optional<Tuples> tuples =
            shorten(e, op.getInput(), {op.getIndices(), int64_t(op.getBatchDims())}))
      op.replaceAllUsesWith(e.make<ScatterNDOp>(op.getKind(), op.getInput(), tuples->indices,
                                                op.getUpdates(), tuples->batchDims)
                                .getResult());
  }

  /// Rows of samples that lie in one dimension: all of a sample together,
  /// sample b taking b * rows + own, or all of a number together, sample b
  /// taking own * samples + b. `own` is one of its rows.
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
  /// Tuples without the leading components that are the tuple's own index, as
  /// batch dimensions; nullopt if there is none. One component stays.
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
    // A batch of one sample is nothing to cut.
    if (shape.back() < 2 || d + 1 >= int64_t(shape.size()) || shape[d] != input[d] || shape[d] < 2)
      return false;
    return facts.isOwnIndex(sliceLast(e.builder, e.loc, tuples.indices, 0, 1), d);
  }

  /// Whether the tuples are pairs, and name their own sample second.
  bool isSecondOwn(Expressions e, GatherNDOp op) {
    ArrayRef<int64_t> input = typeOf(op.getInput()).getShape(),
                      shape = typeOf(op.getIndices()).getShape();
    return op.getBatchDims() == 0 && shape.size() > 1 && shape.back() == 2 &&
           shape[0] == input[1] && shape[0] > 1 &&
           facts.isOwnIndex(sliceLast(e.builder, e.loc, op.getIndices(), 1, 2), 0);
  }

  /// Rows x samples, of which each sample takes those that `own` says, samples
  /// first. The result has `shape`.
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

  /// Where the tuples take the whole input in order, each component being the
  /// tuple's own index along another dimension: the dimension of the result in
  /// which each input dimension is found again, -1 for one of extent 1.
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

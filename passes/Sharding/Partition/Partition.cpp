// Turns a program into the program of one device. An op other than a reshard runs in a loop if a
// sequential axis cuts one of its values, or if one of them is partial over this axis.
// LoopSchedule.h has the rule for reshards. An op in a loop belongs to the latest loop that its
// users allow. Values leave a loop stacked or summed, and enter a loop sliced or whole
// (MicrobatchAxis).

#include "passes/Sharding/Partition/LoopSchedule.h"
#include "passes/Sharding/Partition/LowerReshard.h"
#include "passes/Sharding/Partition/MicrobatchAxis.h"
#include "passes/Sharding/Passes.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Interfaces/SignatureAttrs.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_PARTITION
#include "passes/Sharding/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::dist;
using nn::ArgAttr;
using nn::ArgKind;
using nn::typeOf;

namespace {

/// Partitions one function.
class FunctionPartitioner {
public:
  FunctionPartitioner(func::FuncOp function, MeshOp mesh)
      : function(function), mesh(mesh.getShape()), meshName(FlatSymbolRefAttr::get(mesh)),
        micro(this->mesh), builder(function.getContext()) {}

  LogicalResult run() {
    if (failed(collectLayouts()))
      return failure();
    schedule.emplace(function, micro);
    if (failed(checkCrossings()))
      return failure();

    Block *old = &function.front();
    Block *block = new Block;
    function.getBody().push_back(block);
    builder.setInsertionPointToStart(block);
    SignatureAttrs attributes(function);
    for (auto [index, argument] : llvm::enumerate(old->getArguments())) {
      Layout layout = micro.outsideOf(layouts[argument]);
      Value local = block->addArgument(nn::withShape(typeOf(argument), localShape(layout, mesh)),
                                       argument.getLoc());
      outside[argument] = local;
      attributes.setArg(index, DistDialect::kLayoutAttrName,
                        LayoutAttr::get(function.getContext(), layout));
    }
    attributes.write();
    for (int64_t now = 0; now <= schedule->getLast(); ++now) {
      if (failed(emitLoop(now)))
        return failure();
      for (Operation &op : old->without_terminator())
        if (schedule->getTime(&op) == now && !schedule->inLoop(&op))
          if (failed(emit(&op, outside)))
            return failure();
    }
    SmallVector<Value> results;
    for (Value value : old->getTerminator()->getOperands())
      results.push_back(outside.lookup(value));
    builder.create<func::ReturnOp>(old->getTerminator()->getLoc(), results);
    old->dropAllReferences();
    old->erase();
    function.setType(FunctionType::get(function.getContext(), block->getArgumentTypes(),
                                       TypeRange(ValueRange(results))));
    return success();
  }

private:
  using ValueMap = llvm::DenseMap<Value, Value>;

  //===-- Layouts ---------------------------------------------------------===//

  LogicalResult collectLayouts() {
    for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
      auto layout = function.getArgAttrOfType<LayoutAttr>(index, DistDialect::kLayoutAttrName);
      if (!layout)
        return function.emitError("argument ") << index << " has no layout";
      layouts[argument] = layout.getLayout();
    }
    for (Operation &op : function.front().without_terminator()) {
      if (auto reshard = dyn_cast<ReshardOp>(op)) {
        layouts[reshard.getResult()] = reshard.getTo().getLayout();
        continue;
      }
      auto results = op.getAttrOfType<ArrayAttr>(DistDialect::kResultsAttrName);
      if (!results || !op.hasAttrOfType<ArrayAttr>(DistDialect::kOperandsAttrName))
        return op.emitOpError("has no layout for each operand and result");
      for (auto [value, layout] : llvm::zip_equal(op.getResults(), results))
        layouts[value] = cast<LayoutAttr>(layout).getLayout();
    }
    return success();
  }

  /// Fails if a value enters a loop and depends on parameters and on the results of an earlier
  /// loop. Such a value needs every microbatch at once. This is acceptable only for values that
  /// depend on the batch alone.
  LogicalResult checkCrossings() {
    if (!micro)
      return success();
    llvm::DenseSet<Value> trained;
    for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
      ArgAttr arg = nn::getArg(function, index);
      if (arg && arg.getKind() == ArgKind::parameter)
        trained.insert(argument);
    }
    for (Operation &op : function.front().without_terminator()) {
      for (Value operand : op.getOperands()) {
        if (!trained.contains(operand))
          continue;
        trained.insert(op.result_begin(), op.result_end());
        Operation *producer = operand.getDefiningOp();
        if (producer && schedule->inLoop(&op) && schedule->getEarliest(producer) > 0 &&
            schedule->getTime(producer) < schedule->getTime(&op)) {
          return producer->emitOpError(
              "depends on parameters and on every microbatch, and is needed "
              "whole inside the microbatches' loop: use one microbatch (the loss is "
              "none of each sample by itself, as a contrastive one is, or one of a "
              "whole batch's means)");
        }
      }
    }
    return success();
  }

  //===-- Ops -------------------------------------------------------------===//

  /// Emits the ops that one device runs for `op`. `map` has the local values of the operands of
  /// `op`, and receives the local values of its results.
  LogicalResult emit(Operation *op, ValueMap &map) {
    PartitionContext context{builder, op->getLoc(), mesh};
    std::vector<Layout> from = operandLayouts(op), to = resultLayouts(op);
    if (auto reshard = dyn_cast<ReshardOp>(op))
      return emitReshard(reshard, context, map);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(map.lookup(operand));
    if (auto model = dyn_cast<PartitionOpInterface>(op)) {
      maskReductions(op, context, from, operands);
      FailureOr<SmallVector<Value>> results = model.partition(context, operands, from, to);
      if (failed(results))
        return failure();
      for (auto [value, local] : llvm::zip_equal(op->getResults(), *results))
        map[value] = local;
      return success();
    }
    maskReductions(op, context, from, operands);
    IRMapping mapping;
    for (auto [value, local] : llvm::zip_equal(op->getOperands(), operands))
      mapping.map(value, local);
    Operation *local = builder.clone(*op, mapping);
    local->removeAttr(DistDialect::kOperandsAttrName);
    local->removeAttr(DistDialect::kResultsAttrName);
    for (auto [value, result, layout] :
         llvm::zip_equal(op->getResults(), local->getResults(), to)) {
      result.setType(nn::withShape(typeOf(value), localShape(layout, mesh)));
      map[value] = result;
    }
    return success();
  }

  /// Emits the steps of a reshard. They may start from another layout to which the same value
  /// was resharded before, if that is cheaper. For example, if a reduce-scatter has made shards
  /// of a sum for one reader, another reader gets the complete sum by an all-gather of these
  /// shards.
  LogicalResult emitReshard(ReshardOp op, PartitionContext &context, ValueMap &map) {
    const bool inside = schedule->inLoop(op);
    auto ownLayout = [&](const Layout &layout) {
      return inside ? micro.insideOf(layout) : micro.outsideOf(layout);
    };
    std::vector<LocalTensor> sources = {
        {map.lookup(op.getInput()), ownLayout(op.getFrom().getLayout())}};
    for (ReshardOp other : schedule->madeBefore(op))
      sources.push_back({map.lookup(other.getResult()), ownLayout(other.getTo().getLayout())});
    if (!meshPrices) {
      FailureOr<MeshPrices> found = getMeshPrices(op);
      if (failed(found))
        return failure();
      meshPrices = std::move(*found);
    }
    FailureOr<Value> local = lowerReshard(context, op, meshName, *meshPrices, sources,
                                          ownLayout(op.getTo().getLayout()));
    if (failed(local))
      return failure();
    map[op.getResult()] = *local;
    return success();
  }

  /// Fills padding along reduced loops with the identity of the reduction, e.g. 0 for a sum.
  void maskReductions(Operation *op, PartitionContext &context, ArrayRef<Layout> from,
                      SmallVector<Value> &operands) {
    ShardingRule rule = cast<ShardableOpInterface>(op).getShardingRule();
    auto model = dyn_cast<PartitionOpInterface>(op);
    for (unsigned o = 0; o < rule.operands.size(); ++o)
      for (unsigned d = 0; d < rule.operands[o].size(); ++d) {
        if (!hasPadding(from[o].dims[d], mesh) || (model && model.skipsPadding(o)))
          continue;
        std::optional<double> identity;
        for (const auto &segment : rule.operands[o][d])
          for (unsigned loop : segment)
            switch (rule.loops[loop].kind) {
            case LoopKind::sum:
              identity = 0;
              break;
            case LoopKind::max:
              identity = -std::numeric_limits<double>::infinity();
              break;
            case LoopKind::min:
              identity = std::numeric_limits<double>::infinity();
              break;
            default:
              break;
            }
        if (identity)
          operands[o] = context.mask(operands[o], from[o], {d}, *identity);
      }
  }

  //===-- Loops -----------------------------------------------------------===//

  /// Handles operands that are sums over the iterations of an earlier loop. Such an operand is
  /// one term of the sum over the iterations of this loop, and must count once. So it keeps its
  /// value in the first iteration only, and is 0 in the others.
  void addOnce(ArrayRef<Operation *> body, llvm::function_ref<bool(Operation *)> isInside,
               ValueMap &inside) {
    llvm::SmallDenseSet<Value> done;
    for (Operation *op : body)
      for (Value operand : op->getOperands()) {
        if (isInside(operand.getDefiningOp()) || !micro.isPartial(layouts[operand]) ||
            !done.insert(operand).second)
          continue;
        PartitionContext context{builder, op->getLoc(), mesh};
        nn::Expressions e = context.expressions();
        Value &local = inside[operand];
        Value first = e.compare(nn::Comparison::eq, context.axisIndex(micro.getName()), 0.0);
        local = e.select(e.broadcastScalar(first, typeOf(local).getShape()), local,
                         e.splatLike(local, 0));
      }
  }

  /// The parts of a loop while it is built. All values are values of the original function,
  /// except for `inputs` and `yielded`, which are values of the new function.
  struct Loop {
    SmallVector<Operation *> body;
    SmallVector<Value> inputs, outgoing, yielded;
    SmallVector<int32_t> operandKinds, resultKinds;
    SmallVector<Type> resultTypes;
    Block *block = nullptr;
    ValueMap inside;
  };

  /// Emits the loop of time `now`, if there is one.
  LogicalResult emitLoop(int64_t now) {
    Loop loop;
    for (Operation &op : function.front().without_terminator())
      if (schedule->getTime(&op) == now && schedule->inLoop(&op))
        loop.body.push_back(&op);
    if (loop.body.empty())
      return success();
    auto isInside = [&](Operation *op) {
      return op && schedule->getTime(op) == now && schedule->inLoop(op);
    };
    Region region;
    loop.block = &region.emplaceBlock();
    if (failed(enterLoop(loop, isInside)))
      return failure();
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.block);
      addOnce(loop.body, isInside, loop.inside);
      for (Operation *op : loop.body)
        if (failed(emit(op, loop.inside)))
          return failure();
      if (failed(leaveLoop(loop, isInside)))
        return failure();
    }
    OperationState state(function.getLoc(), MicroOp::getOperationName());
    MicroOp::build(builder, state, loop.resultTypes, builder.getI64IntegerAttr(micro.getCount()),
                   builder.getStringAttr(micro.getName()), loop.inputs,
                   builder.getDenseI32ArrayAttr(loop.operandKinds),
                   builder.getDenseI32ArrayAttr(loop.resultKinds));
    state.regions[0]->takeBody(region);
    auto made = cast<MicroOp>(builder.create(state));
    for (auto [value, result] : llvm::zip_equal(loop.outgoing, made.getResults())) {
      outside[value] = result;
      if (!micro.cuts(layouts[value]))
        continue;
      FailureOr<Value> merged = micro.mergeSlices(builder, value.getLoc(), result, layouts[value]);
      if (failed(merged))
        return failure();
      outside[value] = *merged;
    }
    return success();
  }

  /// Gives the loop's block an argument for each value that enters the loop, whole or in
  /// slices.
  LogicalResult enterLoop(Loop &loop, llvm::function_ref<bool(Operation *)> isInside) {
    for (Operation *op : loop.body)
      for (Value operand : op->getOperands()) {
        if (isInside(operand.getDefiningOp()) || loop.inside.count(operand))
          continue;
        Value local = outside.lookup(operand);
        RankedTensorType type = typeOf(local);
        MicroKind kind = MicroKind::whole;
        if (micro.cuts(layouts[operand])) {
          FailureOr<Value> stacked =
              micro.stackSlices(builder, operand.getLoc(), local, layouts[operand]);
          if (failed(stacked))
            return failure();
          local = *stacked;
          type = nn::withShape(type, typeOf(local).getShape().drop_front());
          kind = MicroKind::sliced;
        }
        loop.inputs.push_back(local);
        loop.operandKinds.push_back(static_cast<int32_t>(kind));
        loop.inside[operand] = loop.block->addArgument(type, operand.getLoc());
      }
    return success();
  }

  /// Yields each value of the body that an op outside of the loop reads.
  LogicalResult leaveLoop(Loop &loop, llvm::function_ref<bool(Operation *)> isInside) {
    for (Operation *op : loop.body)
      for (Value value : op->getResults()) {
        if (llvm::all_of(value.getUsers(), isInside))
          continue;
        const Layout &layout = layouts[value];
        if (!micro.isUsedBy(layout))
          return op->emitOpError("gives a value that is the same for every "
                                 "microbatch, from values that are not");
        Value local = loop.inside[value];
        SmallVector<int64_t> shape(typeOf(local).getShape());
        MicroKind kind = MicroKind::summed;
        if (micro.cuts(layout)) {
          shape.insert(shape.begin(), micro.getCount());
          kind = MicroKind::stacked;
        }
        loop.outgoing.push_back(value);
        loop.yielded.push_back(local);
        loop.resultTypes.push_back(nn::withShape(typeOf(local), shape));
        loop.resultKinds.push_back(static_cast<int32_t>(kind));
      }
    builder.create<dist::YieldOp>(function.getLoc(), loop.yielded);
    return success();
  }

  func::FuncOp function;
  const MeshShape mesh;
  const FlatSymbolRefAttr meshName;
  MicrobatchAxis micro;
  OpBuilder builder;
  /// The prices on the mesh of the module, read when the first reshard needs it.
  std::optional<MeshPrices> meshPrices;
  /// Which ops run in loops. Computed after all layouts are known.
  std::optional<LoopSchedule> schedule;
  // These maps are looked up by key only, so their order cannot affect the program.
  llvm::DenseMap<Value, Layout> layouts;
  ValueMap outside;
};

struct PartitionPass : dpc::impl::PartitionBase<PartitionPass> {
  void runOnOperation() override {
    MeshOp mesh = findMesh(getOperation());
    if (!mesh) {
      getOperation().emitError("has no dist.mesh");
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(FunctionPartitioner(function, mesh).run()))
        return signalPassFailure();
  }
};

} // namespace

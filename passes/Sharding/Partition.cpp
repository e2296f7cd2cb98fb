// Partitioning into one device's program. Ops on values that a sequential axis
// cuts, or that are partial over it, run in loops: an op belongs to the latest
// loop that all its users inside loops allow, values leave a loop stacked or
// summed and enter one sliced or whole.

#include "passes/Sharding/LowerReshard.h"
#include "passes/Sharding/Passes.h"

#include "dialects/Dist/IR/Collectives.h"

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

/// One function being partitioned.
class FunctionPartitioner {
public:
  FunctionPartitioner(func::FuncOp function, const MeshShape &mesh)
      : function(function), mesh(mesh), builder(function.getContext()) {
    for (const MeshAxis &axis : mesh.axes)
      if (axis.sequential && axis.size > 1)
        sequential = &axis;
  }

  LogicalResult run() {
    collectLayouts();
    schedule();
    if (failed(checkCrossings()))
      return failure();

    Block *old = &function.front();
    Block *block = new Block;
    function.getBody().push_back(block);
    builder.setInsertionPointToStart(block);
    for (auto [index, argument] : llvm::enumerate(old->getArguments())) {
      Layout layout = outsideOf(layouts[argument]);
      Value local = block->addArgument(
          nn::withShape(typeOf(argument), localShape(layout, mesh)),
          argument.getLoc());
      outside[argument] = local;
      function.setArgAttr(index, DistDialect::kLayoutAttrName,
                          LayoutAttr::get(function.getContext(), layout));
    }
    int64_t last = 0;
    for (Operation &op : old->without_terminator())
      last = std::max(last, time[&op]);
    for (int64_t now = 0; now <= last; ++now) {
      if (failed(emitLoop(now)))
        return failure();
      for (Operation &op : old->without_terminator())
        if (time[&op] == now && !inLoop(&op))
          if (failed(emit(&op, outside)))
            return failure();
    }
    SmallVector<Value> results;
    for (Value value : old->getTerminator()->getOperands())
      results.push_back(outside.lookup(value));
    builder.create<func::ReturnOp>(old->getTerminator()->getLoc(), results);
    old->dropAllReferences();
    old->erase();
    function.setType(FunctionType::get(function.getContext(),
                                       block->getArgumentTypes(),
                                       TypeRange(ValueRange(results))));
    return success();
  }

private:
  using ValueMap = llvm::DenseMap<Value, Value>;

  //===-- Layouts ---------------------------------------------------------===//

  void collectLayouts() {
    for (auto [index, argument] : llvm::enumerate(function.getArguments()))
      layouts[argument] =
          function
              .getArgAttrOfType<LayoutAttr>(index, DistDialect::kLayoutAttrName)
              .getLayout();
    for (Operation &op : function.front().without_terminator()) {
      if (auto reshard = dyn_cast<ReshardOp>(op)) {
        layouts[reshard.getResult()] = reshard.getTo().getLayout();
        continue;
      }
      auto results = op.getAttrOfType<ArrayAttr>(DistDialect::kResultsAttrName);
      for (auto [value, layout] : llvm::zip_equal(op.getResults(), results))
        layouts[value] = cast<LayoutAttr>(layout).getLayout();
    }
  }

  std::vector<Layout> operandLayouts(Operation *op) {
    std::vector<Layout> result;
    if (auto reshard = dyn_cast<ReshardOp>(op))
      return {reshard.getFrom().getLayout()};
    for (Attribute layout :
         op->getAttrOfType<ArrayAttr>(DistDialect::kOperandsAttrName))
      result.push_back(cast<LayoutAttr>(layout).getLayout());
    return result;
  }

  std::vector<Layout> resultLayouts(Operation *op) {
    std::vector<Layout> result;
    for (Value value : op->getResults())
      result.push_back(layouts[value]);
    return result;
  }

  bool isCut(const Layout &layout) const {
    return sequential &&
           llvm::is_contained(shardedAxes(layout), sequential->name);
  }
  bool isPartial(const Layout &layout) const {
    return sequential &&
           llvm::any_of(layout.partial, [&](const Partial &partial) {
             return partial.axis == sequential->name;
           });
  }
  bool usesLoop(const Layout &layout) const {
    return isCut(layout) || isPartial(layout);
  }

  /// The layout of the whole value that a loop's turns make up.
  Layout outsideOf(Layout layout) const {
    if (!sequential)
      return layout;
    for (DimLayout &dim : layout.dims)
      for (Segment &segment : dim.segments)
        for (Factor &factor : segment.factors)
          llvm::erase(factor.axes, sequential->name);
    llvm::erase_if(layout.partial, [&](const Partial &partial) {
      return partial.axis == sequential->name;
    });
    return layout;
  }

  /// The factor that the loop's turns are, if `dim` is cut into them: its
  /// position, and the extent of what follows.
  std::optional<std::pair<unsigned, int64_t>>
  turnFactor(const DimLayout &dim) const {
    if (dim.segments.size() != 1)
      return std::nullopt;
    int64_t after = 1;
    ArrayRef<Factor> factors = dim.segments[0].factors;
    for (size_t f = factors.size(); f-- > 0;) {
      if (factors[f].axes == AxisNames{sequential->name} &&
          factors[f].size == sequential->size)
        return std::make_pair(unsigned(f), after);
      after *= factors[f].size;
    }
    return std::nullopt;
  }

  /// Whether each turn has the same slice of both.
  bool sameTurns(const Layout &from, const Layout &to) const {
    for (auto [a, b] : llvm::zip_equal(from.dims, to.dims)) {
      bool cutA = llvm::is_contained(shardedAxes(a), sequential->name),
           cutB = llvm::is_contained(shardedAxes(b), sequential->name);
      if (cutA != cutB)
        return false;
      if (!cutA)
        continue;
      auto turnA = turnFactor(a), turnB = turnFactor(b);
      if (!turnA || !turnB || turnA->second != turnB->second)
        return false;
    }
    return true;
  }

  /// The layout of the slice that one turn has.
  Layout insideOf(Layout layout) const {
    for (DimLayout &dim : layout.dims)
      if (auto turn = turnFactor(dim))
        dim.segments[0].factors[turn->first] = Factor(1);
    return layout;
  }

  /// Whether `op` runs once a turn. A reshard does if it changes nothing about
  /// the sequential axis.
  bool inLoop(Operation *op) {
    if (!sequential)
      return false;
    if (auto reshard = dyn_cast<ReshardOp>(op)) {
      Layout from = reshard.getFrom().getLayout(),
             to = reshard.getTo().getLayout();
      return usesLoop(from) && isPartial(from) == isPartial(to) &&
             sameTurns(from, to);
    }
    return llvm::any_of(operandLayouts(op),
                        [&](const Layout &l) { return usesLoop(l); }) ||
           llvm::any_of(resultLayouts(op),
                        [&](const Layout &l) { return usesLoop(l); });
  }

  //===-- Order -----------------------------------------------------------===//

  /// Gives every op a time: loop t runs before the outside ops of time t, and
  /// after those of time t - 1.
  void schedule() {
    SmallVector<Operation *> ops;
    for (Operation &op : function.front().without_terminator())
      ops.push_back(&op);
    for (Operation *op : ops) {
      int64_t now = inLoop(op) ? 1 : 0;
      for (Value operand : op->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer)
          continue;
        bool leaves = !inLoop(producer) && inLoop(op);
        now = std::max(now, time[producer] + (leaves ? 1 : 0));
      }
      time[op] = now;
    }
    // Then everything sinks to its users: what crosses loops has to be
    // stored, and a loop that waits for one number should hold nothing else.
    int64_t last = 0;
    for (Operation *op : ops)
      last = std::max(last, time[op]);
    earliest = time;
    for (Operation *op : llvm::reverse(ops)) {
      int64_t latest = last;
      for (Operation *user : op->getUsers())
        if (!user->hasTrait<OpTrait::IsTerminator>()) {
          bool enters = !inLoop(op) && inLoop(user);
          latest = std::min(latest, time[user] - (enters ? 1 : 0));
        }
      time[op] = latest;
    }
  }

  /// A value that crosses from one loop into a later one holds every
  /// microbatch at once; that is fine only for what depends on the batch
  /// alone.
  LogicalResult checkCrossings() {
    if (!sequential)
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
        if (producer && inLoop(&op) && earliest[producer] > 0 &&
            time[producer] < time[&op]) {
          return producer->emitOpError(
              "depends on parameters and on every microbatch, and is needed "
              "whole inside the microbatches' loop: use one microbatch");
        }
      }
    }
    return success();
  }

  //===-- Ops -------------------------------------------------------------===//

  /// Emits the local form of `op` on the values of `map`.
  LogicalResult emit(Operation *op, ValueMap &map) {
    PartitionContext context{builder, op->getLoc(), mesh};
    std::vector<Layout> from = operandLayouts(op), to = resultLayouts(op);
    if (auto reshard = dyn_cast<ReshardOp>(op)) {
      Layout source = from[0], target = to[0];
      bool inside = inLoop(op);
      source = inside ? insideOf(source) : outsideOf(source);
      target = inside ? insideOf(target) : outsideOf(target);
      map[reshard.getResult()] =
          lowerReshard(context, map.lookup(reshard.getInput()), source, target);
      return success();
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(map.lookup(operand));
    if (auto model = dyn_cast<PartitionOpInterface>(op)) {
      maskReductions(op, context, from, operands);
      FailureOr<SmallVector<Value>> results =
          model.partition(context, operands, from, to);
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

  /// Puts the reduction's identity into padding along reduced loops.
  void maskReductions(Operation *op, PartitionContext &context,
                      ArrayRef<Layout> from, SmallVector<Value> &operands) {
    ShardingRule rule = cast<ShardableOpInterface>(op).getShardingRule();
    for (unsigned o = 0; o < rule.operands.size(); ++o)
      for (unsigned d = 0; d < rule.operands[o].size(); ++d) {
        if (!hasPadding(from[o].dims[d], mesh))
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

  /// Where the sequential axis lies in `layout`, as the local outside shape of
  /// its dimension: (before, axis size, after).
  struct CutPlace {
    unsigned dim;
    int64_t before, after;
  };

  FailureOr<CutPlace> placeOf(Value value, const Layout &layout) {
    for (auto [d, dim] : llvm::enumerate(layout.dims)) {
      if (!llvm::is_contained(shardedAxes(dim), sequential->name))
        continue;
      if (dim.segments.size() != 1)
        break;
      CutPlace place{unsigned(d), 1, 1};
      bool found = false;
      for (const Factor &factor : dim.segments[0].factors) {
        if (llvm::is_contained(factor.axes, sequential->name)) {
          if (factor.size != sequential->size)
            return emitError(value.getLoc())
                       << "microbatches cut a dimension unevenly: "
                       << toString(dim),
                   failure();
          found = true;
          continue;
        }
        (found ? place.after : place.before) *= localSize(factor, mesh);
      }
      return place;
    }
    return emitError(value.getLoc())
               << "microbatches cut a joined dimension: " << toString(layout),
           failure();
  }

  /// The whole value with the microbatch as a new first dimension.
  FailureOr<Value> expose(Value key, Value local) {
    FailureOr<CutPlace> place = placeOf(key, layouts[key]);
    if (failed(place))
      return failure();
    nn::Expressions e{builder, key.getLoc()};
    SmallVector<int64_t> shape(typeOf(local).getShape()), split, permutation;
    for (unsigned d = 0; d < shape.size(); ++d) {
      if (d == place->dim)
        llvm::append_values(split, place->before, sequential->size,
                            place->after);
      else
        split.push_back(shape[d]);
    }
    permutation.push_back(place->dim + 1);
    for (unsigned i = 0; i < split.size(); ++i)
      if (i != place->dim + 1)
        permutation.push_back(i);
    shape[place->dim] = place->before * place->after;
    shape.insert(shape.begin(), sequential->size);
    return e.reshape(e.transpose(e.reshape(local, split), permutation), shape);
  }

  /// The inverse of `expose`.
  FailureOr<Value> fold(Value key, Value stacked) {
    FailureOr<CutPlace> place = placeOf(key, layouts[key]);
    if (failed(place))
      return failure();
    nn::Expressions e{builder, key.getLoc()};
    SmallVector<int64_t> shape(typeOf(stacked).getShape().drop_front()), split,
        permutation;
    split.push_back(sequential->size);
    for (unsigned d = 0; d < shape.size(); ++d) {
      if (d == place->dim) {
        llvm::append_values(permutation, int64_t(split.size()), int64_t(0),
                            int64_t(split.size() + 1));
        llvm::append_values(split, place->before, place->after);
      } else {
        permutation.push_back(split.size());
        split.push_back(shape[d]);
      }
    }
    shape[place->dim] = place->before * sequential->size * place->after;
    return e.reshape(e.transpose(e.reshape(stacked, split), permutation),
                     shape);
  }

  /// A sum over the turns of an earlier loop is a term of the sum over this
  /// one's: it counts at the first turn alone.
  void addOnce(ArrayRef<Operation *> body,
               llvm::function_ref<bool(Operation *)> isInside,
               ValueMap &inside) {
    llvm::SmallDenseSet<Value> done;
    for (Operation *op : body)
      for (Value operand : op->getOperands()) {
        if (isInside(operand.getDefiningOp()) || !isPartial(layouts[operand]) ||
            !done.insert(operand).second)
          continue;
        PartitionContext context{builder, op->getLoc(), mesh};
        nn::Expressions e = context.expressions();
        Value &local = inside[operand];
        Value first = e.compare(nn::Comparison::eq,
                                context.axisIndex(sequential->name), 0.0);
        local = e.select(e.broadcastScalar(first, typeOf(local).getShape()),
                         local, e.splatLike(local, 0));
      }
  }

  /// Emits the loop of time `now`, if there is one.
  LogicalResult emitLoop(int64_t now) {
    SmallVector<Operation *> body;
    for (Operation &op : function.front().without_terminator())
      if (time[&op] == now && inLoop(&op))
        body.push_back(&op);
    if (body.empty())
      return success();
    auto isInside = [&](Operation *op) {
      return op && time[op] == now && inLoop(op);
    };

    // What comes in: each value once, whole or sliced.
    SmallVector<Value> inputs;
    SmallVector<int32_t> operandKinds, resultKinds;
    auto region = std::make_unique<Region>();
    Block *block = new Block;
    region->push_back(block);
    ValueMap inside;
    for (Operation *op : body)
      for (Value operand : op->getOperands()) {
        if (isInside(operand.getDefiningOp()) || inside.count(operand))
          continue;
        Value local = outside.lookup(operand);
        RankedTensorType type = typeOf(local);
        bool sliced = isCut(layouts[operand]);
        if (sliced) {
          FailureOr<Value> exposed = expose(operand, local);
          if (failed(exposed))
            return failure();
          local = *exposed;
          type = nn::withShape(type, typeOf(local).getShape().drop_front());
        }
        inputs.push_back(local);
        operandKinds.push_back(static_cast<int32_t>(sliced ? MicroKind::sliced
                                                           : MicroKind::whole));
        inside[operand] = block->addArgument(type, operand.getLoc());
      }

    SmallVector<Value> outgoing, yielded;
    SmallVector<Type> types;
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(block);
      addOnce(body, isInside, inside);
      for (Operation *op : body)
        if (failed(emit(op, inside)))
          return failure();
      for (Operation *op : body)
        for (Value value : op->getResults()) {
          if (llvm::all_of(value.getUsers(), isInside))
            continue;
          const Layout &layout = layouts[value];
          if (!usesLoop(layout))
            return op->emitOpError("gives a value that is the same for every "
                                   "microbatch, from values that are not");
          Value local = inside[value];
          outgoing.push_back(value);
          yielded.push_back(local);
          SmallVector<int64_t> shape(typeOf(local).getShape());
          if (isCut(layout))
            shape.insert(shape.begin(), sequential->size);
          types.push_back(nn::withShape(typeOf(local), shape));
          resultKinds.push_back(static_cast<int32_t>(
              isCut(layout) ? MicroKind::stacked : MicroKind::summed));
        }
      builder.create<dist::YieldOp>(function.getLoc(), yielded);
    }
    OperationState state(function.getLoc(), MicroOp::getOperationName());
    MicroOp::build(builder, state, types,
                   builder.getI64IntegerAttr(sequential->size),
                   builder.getStringAttr(sequential->name), inputs,
                   builder.getDenseI32ArrayAttr(operandKinds),
                   builder.getDenseI32ArrayAttr(resultKinds));
    state.regions[0]->takeBody(*region);
    auto loop = cast<MicroOp>(builder.create(state));
    for (auto [value, result] : llvm::zip_equal(outgoing, loop.getResults())) {
      outside[value] = result;
      if (!isCut(layouts[value]))
        continue;
      FailureOr<Value> folded = fold(value, result);
      if (failed(folded))
        return failure();
      outside[value] = *folded;
    }
    return success();
  }

  func::FuncOp function;
  const MeshShape &mesh;
  OpBuilder builder;
  const MeshAxis *sequential = nullptr;
  // All looked up by key only: their order never shows.
  llvm::DenseMap<Value, Layout> layouts;
  llvm::DenseMap<Operation *, int64_t> time, earliest;
  ValueMap outside;
};

struct PartitionPass : dpc::impl::PartitionBase<PartitionPass> {
  void runOnOperation() override {
    auto mesh = getOperation().lookupSymbol<MeshOp>("mesh");
    if (!mesh) {
      getOperation().emitError("has no dist.mesh @mesh");
      return signalPassFailure();
    }
    MeshShape shape = mesh.getShape();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(FunctionPartitioner(function, shape).run()))
        return signalPassFailure();
  }
};

} // namespace

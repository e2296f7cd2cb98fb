#include "passes/Lowering/BlockLowering.h"

#include "passes/Bucketing/BucketPlan.h"
#include "passes/Lowering/CommunicationOrder.h"
#include "passes/Lowering/InPlace.h"
#include "passes/Lowering/KernelTable.h"

#include "dialects/NN/IR/Shape.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Bytes of one element of a tensor in memory.
static int64_t elementBytes(Value tensor) {
  return tensorBytes(tensor.getType()) /
         std::max<int64_t>(typeOf(tensor).getNumElements(), 1);
}

static Reduction reductionOf(dist::ReductionKind kind) {
  return Reduction(uint32_t(kind));
}

LogicalResult BlockLowering::prepare(Block &block) {
  planPacks(block);
  return planBuckets(block, orderByCommunication(block));
}

LogicalResult BlockLowering::prepare(Block &block,
                                     ArrayRef<OrderConstraint> constraints) {
  if (failed(prepare(block)))
    return failure();
  if (!options.overlap)
    return success();
  BucketOfOp bucketOfOp;
  for (auto [index, bucket] : llvm::enumerate(buckets))
    for (dist::AllReduceOp member : bucket.members)
      bucketOfOp[member] = index;
  return orderComputation(block, bucketOfOp, constraints);
}

LogicalResult BlockLowering::run(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(lower(&op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value BlockLowering::createBuffer(Value tensor, Space space) {
  return builder.create<BufferOp>(tensor.getLoc(), bufferOf(tensor.getType()),
                                  space, IntegerAttr());
}

Value BlockLowering::createShareView(Value tensor, Value whole,
                                     ArrayAttr axes) {
  return builder.create<ViewOp>(tensor.getLoc(), bufferOf(tensor.getType()),
                                whole, /*offset=*/0,
                                /*stride=*/tensorBytes(tensor.getType()), axes);
}

Value BlockLowering::createResultBuffer(Value result) {
  return createBuffer(result,
                      feedsCollective(result) ? Space::shared : Space::arena);
}

void BlockLowering::copy(Location loc, Value source, Value target) {
  settleOutput(source);
  settle(target);
  builder.create<CopyOp>(loc, source, target);
}

void BlockLowering::waitFor(llvm::function_ref<bool(const Pending &)> ends) {
  llvm::erase_if(pending, [&](const Pending &item) {
    if (!ends(item))
      return false;
    if (item.event.use_empty())
      builder.create<WaitOp>(item.event.getLoc(), item.event);
    return true;
  });
}

void BlockLowering::settle(Value buffer) {
  Operation *root = placeOf(buffer).root;
  waitFor([&](const Pending &item) { return item.root == root; });
}

void BlockLowering::settleOutput(Value buffer) {
  Operation *root = placeOf(buffer).root;
  waitFor(
      [&](const Pending &item) { return item.root == root && item.isOutput; });
}

void BlockLowering::settleAll() {
  waitFor([](const Pending &) { return true; });
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Whether `value` is computed in the block of `user`, its only user, so that
/// it can be written straight into the buffer of a collective.
bool BlockLowering::isMadeFor(Value value, Operation *user) {
  Operation *producer = value.getDefiningOp();
  if (!producer || producer->getBlock() != user->getBlock() ||
      !value.hasOneUse() || targets.count(value))
    return false;
  return isa<func::CallOp, dist::MicroOp>(producer);
}

/// Ops of `block` that some collective waits for.
static llvm::DenseSet<Operation *> neededByCollectives(Block &block) {
  llvm::DenseSet<Operation *> needed;
  for (Operation &op : llvm::reverse(block))
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          user = block.findAncestorOpInBlock(*user);
          return isCollective(user) || needed.contains(user);
        }))
      needed.insert(&op);
  return needed;
}

LogicalResult
BlockLowering::planBuckets(Block &block,
                           const llvm::DenseMap<Operation *, int64_t> &depths) {
  BucketProblem problem;
  problem.limits = {options.firstBucketBytes, options.bucketBytes};
  SmallVector<dist::AllReduceOp> ops;
  llvm::DenseSet<Operation *> needed = neededByCollectives(block);
  for (auto op : block.getOps<dist::AllReduceOp>()) {
    if (!isMadeFor(op.getInput(), op))
      continue;
    auto type = typeOf(op.getInput());
    BucketTensor tensor;
    tensor.elements = type.getNumElements();
    tensor.elementBytes = elementBytes(op.getInput());
    llvm::raw_string_ostream dtype(tensor.key.dtype), group(tensor.key.group);
    dtype << type.getElementType();
    // Members must not wait for each other: equal depth. And what the rest of
    // the step waits for must not wait for what is only reported.
    group << op.getAxes() << " " << depths.lookup(op)
          << (needed.contains(op) ? " needed" : "");
    tensor.key.reduction = stringifyReductionKind(op.getReduction()).str();
    problem.tensors.push_back(tensor);
    ops.push_back(op);
  }
  if (ops.empty())
    return success();
  // Ready in the order in which the producers stand.
  llvm::SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, ops.size()));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    Operation *x = ops[a].getInput().getDefiningOp();
    Operation *y = ops[b].getInput().getDefiningOp();
    return x != y && x->isBeforeInBlock(y);
  });
  problem.readyOrder = order;
  llvm::Expected<BucketPlan> plan = assignBuckets(problem);
  llvm::Error error = plan ? plan->verify(problem) : plan.takeError();
  if (error)
    return block.getParentOp()->emitError("buckets: ")
           << llvm::toString(std::move(error));
  for (const dpc::Bucket &planned : plan->buckets) {
    Bucket bucket;
    auto first = ops[planned.members.front()];
    Type element = getElementTypeOrSelf(first.getType());
    int64_t bytes = problem.tensors[planned.members.front()].elementBytes;
    SmallVector<Location> locations;
    for (int64_t member : planned.members)
      locations.push_back(ops[member].getLoc());
    bucket.buffer = builder.create<BufferOp>(
        builder.getFusedLoc(locations),
        MemRefType::get({planned.bytes / bytes}, element), Space::shared,
        IntegerAttr());
    bucket.missing = planned.members.size();
    for (auto [member, offset] :
         llvm::zip_equal(planned.members, planned.offsets)) {
      dist::AllReduceOp op = ops[member];
      Value view = builder.create<ViewOp>(op.getLoc(), bufferOf(op.getType()),
                                          bucket.buffer, offset, 0);
      targets[op.getInput()] = view;
      buffers[op.getResult()] = view;
      bucketOf[op.getInput()] = buckets.size();
      bucket.members.push_back(op);
    }
    buckets.push_back(std::move(bucket));
  }
  return success();
}

/// Has what is packed computed straight into the flat buffer.
void BlockLowering::planPacks(Block &block) {
  for (auto pack : block.getOps<dist::PackOp>()) {
    Value flat = createResultBuffer(pack.getResult());
    buffers[pack.getResult()] = flat;
    const int64_t bytes = elementBytes(pack.getResult());
    for (auto [input, offset] :
         llvm::zip_equal(pack.getInputs(), pack.getOffsets()))
      if (isMadeFor(input, pack))
        targets[input] = builder.create<ViewOp>(
            pack.getLoc(), bufferOf(input.getType()), flat, offset * bytes);
  }
}

void BlockLowering::start(Location loc, Collective kind, Reduction reduction,
                          ArrayAttr axes, Value input, Value output) {
  Value event =
      builder.create<StartOp>(loc, EventType::get(builder.getContext()), kind,
                              reduction, axes, input, output, nextId++);
  pending.push_back({placeOf(output).root, event, true});
  if (placeOf(output).root != placeOf(input).root)
    pending.push_back({placeOf(input).root, event, false});
  if (!options.overlap)
    settleAll();
}

void BlockLowering::markReady(Value value) {
  auto found = bucketOf.find(value);
  if (found == bucketOf.end())
    return;
  Bucket &bucket = buckets[found->second];
  if (--bucket.missing)
    return;
  dist::AllReduceOp first = bucket.members.front();
  start(bucket.buffer.getLoc(), Collective::all_reduce,
        reductionOf(first.getReduction()), first.getAxes(), bucket.buffer,
        bucket.buffer);
}

/// Whether `value`, which has one user, was packed for it alone.
static bool isPackedForUser(Value value) {
  for (; value.hasOneUse(); value = value.getDefiningOp()->getOperand(0)) {
    if (value.getDefiningOp<dist::PackOp>())
      return true;
    if (!value.getDefiningOp<nn::ReshapeOp>())
      return false;
  }
  return false;
}

void BlockLowering::lowerCollective(Operation *op, Collective kind,
                                    Reduction reduction, ArrayAttr axes) {
  Value source = op->getOperand(0);
  Value input = buffers.lookup(source);
  const bool isShared = spaceOf(placeOf(input).root) == Space::shared;
  if (isShared) {
    settleOutput(input);
  } else {
    // Peers cannot read it there: an argument of a loop, say.
    Value copied = createBuffer(source, Space::shared);
    copy(op->getLoc(), input, copied);
    input = copied;
  }
  Value result = op->getResult(0);
  Value output = targets.lookup(result);
  // A copy is nobody else's, nor is what was packed for this alone.
  const bool isOwn = !isShared || isPackedForUser(source);
  if (!output && isOwn && kind == Collective::all_reduce)
    output = input;
  else if (!output && isOwn && kind == Collective::reduce_scatter)
    output = createShareView(result, input, axes);
  else if (!output)
    output = createBuffer(result, Space::shared);
  buffers[result] = output;
  start(op->getLoc(), kind, reduction, axes, input, output);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult BlockLowering::lower(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    lowerCall(call);
    return success();
  }
  if (lowerView(op))
    return success();
  if (auto pack = dyn_cast<dist::PackOp>(op)) {
    lowerPack(pack);
    return success();
  }
  if (auto index = dyn_cast<dist::AxisIndexOp>(op)) {
    Value buffer = createBuffer(index.getResult());
    builder.create<CoordinateOp>(op->getLoc(), index.getAxis(), buffer);
    buffers[index.getResult()] = buffer;
    return success();
  }
  if (auto reduce = dyn_cast<dist::AllReduceOp>(op)) {
    if (!bucketOf.count(reduce.getInput()))
      lowerCollective(op, Collective::all_reduce,
                      reductionOf(reduce.getReduction()), reduce.getAxes());
    return success();
  }
  if (auto gather = dyn_cast<dist::AllGatherOp>(op)) {
    lowerCollective(op, Collective::all_gather, Reduction::sum,
                    gather.getAxes());
    return success();
  }
  if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op)) {
    lowerCollective(op, Collective::reduce_scatter,
                    reductionOf(scatter.getReduction()), scatter.getAxes());
    return success();
  }
  if (auto micro = dyn_cast<dist::MicroOp>(op))
    return lowerMicro(micro);
  return op->emitOpError("is outside a kernel and has no buffer form");
}

bool BlockLowering::lowerView(Operation *op) {
  if (!isView(op))
    return false;
  Value source = buffers.lookup(op->getOperand(0));
  auto view = [&](Value result, int64_t offset) {
    buffers[result] = builder.create<ViewOp>(
        op->getLoc(), bufferOf(result.getType()), source, offset);
  };
  if (auto share = dyn_cast<dist::ShareOp>(op)) {
    buffers[share.getResult()] =
        createShareView(share.getResult(), source, share.getAxes());
  } else if (auto unpack = dyn_cast<dist::UnpackOp>(op)) {
    for (auto [result, offset] :
         llvm::zip_equal(unpack.getResults(), unpack.getOffsets()))
      view(result, offset * elementBytes(result));
  } else {
    view(op->getResult(0), 0);
  }
  return true;
}

/// What could not be computed straight into the flat buffer is copied there.
void BlockLowering::lowerPack(dist::PackOp pack) {
  Value flat = buffers.lookup(pack.getResult());
  const int64_t bytes = elementBytes(pack.getResult());
  for (auto [input, offset] :
       llvm::zip_equal(pack.getInputs(), pack.getOffsets())) {
    if (placeOf(buffers.lookup(input)).root == placeOf(flat).root)
      continue;
    copy(pack.getLoc(), buffers.lookup(input),
         builder.create<ViewOp>(pack.getLoc(), bufferOf(input.getType()), flat,
                                offset * bytes));
  }
}

void BlockLowering::lowerCall(func::CallOp call) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  SmallVector<Value> inputs, outputs, scratch;
  for (Value operand : call->getOperands())
    inputs.push_back(buffers.lookup(operand));
  for (Value result : call->getResults()) {
    Value target = targets.lookup(result);
    outputs.push_back(target ? target : createResultBuffer(result));
    buffers[result] = outputs.back();
  }
  if (int64_t bytes = getScratchBytes(kernel))
    scratch.push_back(builder.create<BufferOp>(
        call.getLoc(), MemRefType::get({bytes}, builder.getI8Type()),
        Space::arena, IntegerAttr()));
  for (Value buffer : inputs)
    settleOutput(buffer);
  for (Value buffer : outputs)
    settle(buffer);
  builder.create<LaunchOp>(call.getLoc(), call.getCallee(), inputs, outputs,
                           scratch);
  for (Value result : call->getResults())
    markReady(result);
}

LogicalResult BlockLowering::lowerMicro(dist::MicroOp micro) {
  Location loc = micro.getLoc();
  Block &body = micro.getBodyBlock();
  auto yield = cast<dist::YieldOp>(body.getTerminator());
  SmallVector<Value> results;
  for (auto [index, result] : llvm::enumerate(micro.getResults())) {
    Value target = targets.lookup(result);
    results.push_back(target ? target : createResultBuffer(result));
    buffers[result] = results.back();
    if (micro.getResultKind(index) == dist::MicroKind::summed) {
      settle(results.back());
      builder.create<ZeroOp>(loc, results.back());
    }
  }
  // Nothing is under way while the loop runs: its turns reuse buffers.
  settleAll();
  auto loop = builder.create<LoopOp>(loc, micro.getCount());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&loop.getBody().emplaceBlock());
  auto slice = [&](Value stacked, Type tensor) -> Value {
    return builder.create<ViewOp>(loc, bufferOf(tensor), stacked, 0,
                                  tensorBytes(tensor));
  };

  BlockLowering inner(builder, options);
  inner.nextId = nextId;
  for (auto [index, operand, argument] :
       llvm::enumerate(micro.getInputs(), body.getArguments())) {
    Value buffer = buffers.lookup(operand);
    inner.buffers[argument] =
        micro.getOperandKind(index) == dist::MicroKind::sliced
            ? slice(buffer, argument.getType())
            : buffer;
  }
  if (failed(inner.prepare(body)))
    return failure();
  SmallVector<std::pair<Value, Value>> copies;
  for (auto [index, value] : llvm::enumerate(yield.getOperands())) {
    if (micro.getResultKind(index) != dist::MicroKind::stacked)
      continue;
    Value target = slice(results[index], value.getType());
    if (value.getDefiningOp<func::CallOp>() && !inner.targets.count(value))
      inner.targets[value] = target;
    else
      copies.push_back({value, target});
  }
  if (failed(inner.run(body)))
    return failure();
  for (auto [value, target] : copies)
    inner.copy(loc, inner.buffers.lookup(value), target);
  for (auto [index, value] : llvm::enumerate(yield.getOperands())) {
    if (micro.getResultKind(index) != dist::MicroKind::summed)
      continue;
    func::FuncOp add = getAccumulateKernel(micro->getParentOfType<ModuleOp>(),
                                           value.getType());
    if (!add)
      return micro.emitOpError("sums ")
             << value.getType() << ", but nothing was outlined for that";
    auto flat = bufferOf(add.getResultTypes()[0]);
    Value from = inner.buffers.lookup(value);
    inner.settle(from);
    Value sum = builder.create<ViewOp>(loc, flat, results[index], 0, 0);
    Value addend = builder.create<ViewOp>(loc, flat, from, 0, 0);
    builder.create<LaunchOp>(loc, add.getSymName(), ValueRange{sum, addend},
                             ValueRange{sum}, ValueRange());
  }
  inner.settleAll();
  nextId = inner.nextId;
  builder.setInsertionPointAfter(loop);
  for (Value result : micro.getResults())
    markReady(result);
  return success();
}

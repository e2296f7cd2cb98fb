// Buckets, packs and collectives of a block.

#include "passes/Lowering/BlockLowering.h"

#include "passes/Bucketing/BucketPlan.h"
#include "passes/Lowering/CommunicationOrder.h"

#include "dialects/NN/IR/Shape.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

Reduction dpc::reductionOf(dist::ReductionKind kind) {
  return Reduction(uint32_t(kind));
}

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
    auto type = cast<RankedTensorType>(op.getInput().getType());
    BucketTensor tensor;
    tensor.elements = type.getNumElements();
    tensor.elementBytes = elementBytes(op.getType());
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
    const int64_t bytes = elementBytes(pack.getType());
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

/// What could not be computed straight into the flat buffer is copied there.
/// Between and behind the members the buffer is zero: others that had its bytes
/// before may have left anything, and an update would carry that into state.
void BlockLowering::lowerPack(dist::PackOp pack) {
  Location loc = pack.getLoc();
  Value flat = buffers.lookup(pack.getResult());
  const int64_t bytes = elementBytes(pack.getType());
  int64_t end = 0;
  auto zeroUntil = [&](int64_t begin) {
    if (begin > end)
      builder.create<ZeroOp>(
          loc,
          builder.create<ViewOp>(
              loc,
              MemRefType::get({begin - end}, pack.getType().getElementType()),
              flat, end * bytes));
  };
  for (auto [input, offset] :
       llvm::zip_equal(pack.getInputs(), pack.getOffsets())) {
    zeroUntil(offset);
    end = offset + cast<RankedTensorType>(input.getType()).getNumElements();
    if (placeOf(buffers.lookup(input)).root != placeOf(flat).root)
      copy(loc, buffers.lookup(input),
           builder.create<ViewOp>(loc, bufferOf(input.getType()), flat,
                                  offset * bytes));
  }
  zeroUntil(pack.getType().getNumElements());
}

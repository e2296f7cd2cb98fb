// Chooses the all-reduces that are joined into one, and orders the ops of each block so that these
// all-reduces can be joined.

#include "passes/Buckets/BucketPlan.h"
#include "passes/Buckets/Passes.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Pieces.h"
#include "dialects/NN/IR/Program.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_BUCKETCOLLECTIVES
#include "passes/Buckets/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using dist::AllReduceOp;

/// Whether `op` is a message, or a loop with messages.
static bool sendsOrReceives(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return dist::isMessage(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Sorts the ops of `block` by depth, and returns the depth of each op. The depth is the largest
/// number of collectives on any path of operands to the op, without the op itself. A message has at
/// least the depth of the message before it, and ops of equal depth keep their order. Therefore
/// messages keep their order too.
static DenseMap<Operation *, int64_t> sortByCommunication(Block &block) {
  DenseMap<Operation *, int64_t> depths;
  SmallVector<Operation *> ops;
  int64_t lastMessage = 0;
  for (Operation &op : block.without_terminator()) {
    int64_t depth = 0;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        auto known = depths.find(producer);
        if (producer && known != depths.end())
          depth = std::max(depth, known->second + (dist::isCollective(producer) ? 1 : 0));
      }
    });
    if (sendsOrReceives(&op))
      depth = lastMessage = std::max(depth, lastMessage);
    depths[&op] = depth;
    ops.push_back(&op);
  }
  llvm::stable_sort(
      ops, [&](Operation *a, Operation *b) { return depths.lookup(a) < depths.lookup(b); });
  for (Operation *op : ops)
    op->moveBefore(block.getTerminator());
  return depths;
}

/// The ops of `block` on whose results a collective of `block` depends, directly or through other
/// ops.
static DenseSet<Operation *> neededByCollectives(Block &block) {
  DenseSet<Operation *> needed;
  for (Operation &op : llvm::reverse(block))
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          user = block.findAncestorOpInBlock(*user);
          return dist::isCollective(user) || needed.contains(user);
        }))
      needed.insert(&op);
  return needed;
}

/// Whether a kernel or a loop of the same block computes the operand of `op`, and no other op reads
/// that operand.
static bool isOperandMadeForIt(AllReduceOp op) {
  Value value = op.getInput();
  Operation *producer = value.getDefiningOp();
  return producer && producer->getBlock() == op->getBlock() && value.hasOneUse() &&
         isa<KernelOpInterface, dist::MicroOp>(producer);
}

namespace {

/// Joins the all-reduces of one block. Invariant: tensor i of `problem` is the operand of `ops[i]`.
class BlockBuckets {
public:
  BlockBuckets(Block &block, ArrayRef<int64_t> limits) : block(block) {
    problem.limits.assign(limits.begin(), limits.end());
    DenseMap<Operation *, int64_t> depths = sortByCommunication(block);
    DenseSet<Operation *> needed = neededByCollectives(block);
    for (auto op : block.getOps<AllReduceOp>())
      if (isOperandMadeForIt(op))
        add(op, depths.lookup(op), needed.contains(op));
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, ops.size()));
    llvm::stable_sort(order, [&](int64_t a, int64_t b) {
      Operation *x = producerOf(a), *y = producerOf(b);
      return x != y && x->isBeforeInBlock(y);
    });
    problem.readyOrder.assign(order.begin(), order.end());
  }

  LogicalResult run() {
    if (ops.empty())
      return success();
    llvm::Expected<BucketPlan> plan = assignBuckets(problem);
    llvm::Error error = plan ? plan->verify(problem) : plan.takeError();
    if (error)
      return block.getParentOp()->emitError("buckets: ") << llvm::toString(std::move(error));
    for (const Bucket &bucket : plan->buckets)
      if (bucket.members.size() > 1)
        join(bucket);
    return success();
  }

private:
  Operation *producerOf(int64_t tensor) { return ops[tensor].getInput().getDefiningOp(); }

  void add(AllReduceOp op, int64_t depth, bool isNeeded) {
    auto type = cast<RankedTensorType>(op.getType());
    BucketTensor tensor;
    tensor.elements = type.getNumElements();
    tensor.elementBytes = tensorBytes(RankedTensorType::get({}, type.getElementType()));
    llvm::raw_string_ostream dtype(tensor.key.dtype), group(tensor.key.group);
    dtype << type.getElementType();
    // Members must not depend on each other, so they have equal depth. An all-reduce that a later
    // collective needs must not wait for one that no collective needs, such as the all-reduce of a
    // metric, so the two have different keys.
    group << op.getAxes() << " " << depth << (isNeeded ? " needed" : "");
    tensor.key.reduction = stringifyReduction(op.getReduction()).str();
    problem.tensors.push_back(std::move(tensor));
    ops.push_back(op);
  }

  void join(const Bucket &bucket) {
    AllReduceOp model = ops[bucket.members.front()];
    const int64_t bytes = problem.tensors[bucket.members.front()].elementBytes;
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    SmallVector<Location> locations;
    SmallVector<int64_t> offsets;
    for (auto [member, offset] : llvm::zip_equal(bucket.members, bucket.offsets)) {
      inputs.push_back(ops[member].getInput());
      types.push_back(inputs.back().getType());
      locations.push_back(ops[member].getLoc());
      offsets.push_back(offset / bytes);
    }
    OpBuilder builder(model.getContext());
    // Members are in the order in which their operands are computed, so the operand of the last
    // member is computed last.
    builder.setInsertionPointAfter(producerOf(bucket.members.back()));
    Location loc = builder.getFusedLoc(locations);
    auto flat =
        RankedTensorType::get({bucket.bytes / bytes}, getElementTypeOrSelf(model.getType()));
    Value all = builder.create<dist::PackOp>(loc, flat, inputs, offsets);
    all = builder.create<AllReduceOp>(loc, flat, model.getReduction(), all, model.getMesh(),
                                      model.getAxes());
    auto unpack = builder.create<dist::UnpackOp>(loc, types, all, offsets);
    for (auto [member, result] : llvm::zip_equal(bucket.members, unpack.getResults())) {
      ops[member].replaceAllUsesWith(result);
      ops[member].erase();
    }
  }

  Block &block;
  BucketProblem problem;
  SmallVector<AllReduceOp> ops;
};

struct BucketCollectivesPass : dpc::impl::BucketCollectivesBase<BucketCollectivesPass> {
  using BucketCollectivesBase::BucketCollectivesBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<Block *> blocks;
    getOperation()->walk([&](dist::PieceOp piece) { blocks.push_back(&piece.getBodyBlock()); });
    getOperation()->walk([&](dist::MicroOp micro) { blocks.push_back(&micro.getBodyBlock()); });
    blocks.push_back(&getOperation().front());
    for (Block *block : blocks)
      if (failed(BlockBuckets(*block, {firstBucketBytes, bucketBytes}).run()))
        return signalPassFailure();
  }
};

} // namespace

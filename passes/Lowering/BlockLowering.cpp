#include "passes/Lowering/BlockLowering.h"

#include "passes/Bucketing/BucketPlan.h"
#include "passes/Lowering/CommunicationOrder.h"
#include "passes/Lowering/InPlace.h"
#include "passes/Lowering/KernelTable.h"

#include "dialects/NN/IR/Shape.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

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

Value BlockLowering::placeResult(Value result) {
  Value target = targets.lookup(result);
  return buffers[result] = target ? target : createResultBuffer(result);
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
      view(result, offset * elementBytes(result.getType()));
  } else {
    view(op->getResult(0), 0);
  }
  return true;
}

void BlockLowering::lowerCall(func::CallOp call) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  SmallVector<Value> inputs, outputs, scratch;
  for (Value operand : call->getOperands())
    inputs.push_back(buffers.lookup(operand));
  for (Value result : call->getResults())
    outputs.push_back(placeResult(result));
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
    results.push_back(placeResult(result));
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

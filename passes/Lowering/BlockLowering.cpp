// Lowers the tensors of a block to buffers and views of buffers. Later passes let buffers share
// memory, and let collectives overlap with computation.

#include "passes/Lowering/BlockLowering.h"

#include "passes/Lowering/KernelTable.h"
#include "passes/Lowering/PieceLowering.h"

#include "dialects/Dist/IR/Messages.h"
#include "dialects/Exec/IR/InPlace.h"
#include "dialects/NN/IR/Shape.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;
using dist::MicroKind;

LogicalResult BlockLowering::run(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(lower(&op)))
      return failure();
  return success();
}

Value BlockLowering::createBuffer(Value tensor, Space space) {
  return builder.create<BufferOp>(tensor.getLoc(), bufferOf(tensor.getType()), space);
}

Value BlockLowering::createResultBuffer(Value result) {
  return buffers[result] =
             createBuffer(result, dist::feedsCollective(result) ? Space::shared : Space::arena);
}

LogicalResult BlockLowering::lower(Operation *op) {
  if (auto micro = dyn_cast<dist::MicroOp>(op))
    return lowerMicro(micro);
  if (isView(op)) {
    lowerView(op);
  } else if (auto call = dyn_cast<func::CallOp>(op)) {
    lowerCall(call);
  } else if (auto pack = dyn_cast<dist::PackOp>(op)) {
    lowerPack(pack);
  } else if (auto index = dyn_cast<dist::AxisIndexOp>(op)) {
    return lowerAxisIndex(index);
  } else if (auto collective = dyn_cast<dist::CollectiveOpInterface>(op)) {
    lowerCollective(collective);
  } else if (dist::isMessage(op)) {
    lowerMessage(op);
  } else {
    return op->emitOpError("is outside a kernel and has no buffer form");
  }
  return success();
}

LogicalResult BlockLowering::lowerAxisIndex(dist::AxisIndexOp index) {
  Value &buffer = buffers[index.getResult()];
  auto loop = index->getParentOfType<dist::MicroOp>();
  if (loop && loop.getAxis() == index.getAxis()) {
    buffer = createBuffer(index.getResult());
    builder.create<MicrobatchOp>(index.getLoc(), buffer);
    return success();
  }
  FailureOr<PersistentOp> persistent = persistentBuffers.getOrCreate(
      index.getLoc(), CoordinateAttr::get(index.getContext(), index.getAxisAttr()), index.getType(),
      /*layout=*/Attribute());
  if (failed(persistent))
    return failure();
  buffer =
      builder.create<GetOp>(index.getLoc(), persistent->getBufferType(), persistent->getSymName());
  return success();
}

void BlockLowering::lowerView(Operation *op) {
  Value source = buffers.lookup(op->getOperand(0));
  auto view = [&](Value result, int64_t offset, int64_t stride = 0, ArrayAttr axes = {}) {
    buffers[result] = builder.create<ViewOp>(op->getLoc(), bufferOf(result.getType()), source,
                                             offset, stride, axes);
  };
  if (auto shard = dyn_cast<dist::ShardOp>(op)) {
    view(shard.getResult(), 0, tensorBytes(shard.getType()), shard.getAxes());
  } else if (auto unpack = dyn_cast<dist::UnpackOp>(op)) {
    for (auto [result, offset] : llvm::zip_equal(unpack.getResults(), unpack.getOffsets()))
      view(result, offset * elementBytes(result.getType()));
  } else {
    view(op->getResult(0), 0);
  }
}

/// Whether an op may read elements of `flat` that lie in no member of `pack`. `flat` is the result
/// of `pack`, or the result of an all-reduce of `pack`.
static bool readsBetweenMembers(Value flat, dist::PackOp pack) {
  return llvm::any_of(flat.getUsers(), [&](Operation *user) {
    if (auto sum = dyn_cast<dist::AllReduceOp>(user))
      return readsBetweenMembers(sum.getResult(), pack);
    auto unpack = dyn_cast<dist::UnpackOp>(user);
    return !unpack || unpack.getOffsets() != pack.getOffsets() ||
           !llvm::equal(unpack.getResultTypes(), pack.getOperandTypes());
  });
}

/// Lowers a pack to one copy per member. If an op may read the bytes between the members or after
/// the last member, adds ops that set these bytes to zero. Without these ops, the bytes could hold
/// values of earlier buffers in the same memory, and an update could write these values into state.
void BlockLowering::lowerPack(dist::PackOp pack) {
  Location loc = pack.getLoc();
  Value flat = createResultBuffer(pack.getResult());
  const int64_t bytes = elementBytes(pack.getType());
  const bool needsZeros = readsBetweenMembers(pack.getResult(), pack);
  auto part = [&](int64_t offset, MemRefType type) -> Value {
    return builder.create<ViewOp>(loc, type, flat, offset * bytes);
  };
  int64_t end = 0;
  auto zeroUntil = [&](int64_t begin) {
    if (needsZeros && begin > end)
      builder.create<ZeroOp>(
          loc, part(end, MemRefType::get({begin - end}, pack.getType().getElementType())));
  };
  for (auto [input, offset] : llvm::zip_equal(pack.getInputs(), pack.getOffsets())) {
    zeroUntil(offset);
    end = offset + cast<RankedTensorType>(input.getType()).getNumElements();
    builder.create<CopyOp>(loc, buffers.lookup(input), part(offset, bufferOf(input.getType())));
  }
  zeroUntil(pack.getType().getNumElements());
}

Value BlockLowering::getSharedBuffer(Location loc, Value source) {
  Value buffer = buffers.lookup(source);
  const Place place = persistentBuffers.placeOf(buffer);
  if (spaceOf(place.root) == Space::shared && !place.stride)
    return buffer;
  // No collective or message can work on this buffer. For example, the buffer is an argument in
  // private memory, or the slice of a microbatch. The offset of a slice depends on the iteration of
  // the loop, which a collective cannot look up.
  Value copied = createBuffer(source, Space::shared);
  builder.create<CopyOp>(loc, buffer, copied);
  return copied;
}

void BlockLowering::startCollective(Location loc, dist::Collective kind, dist::Reduction reduction,
                                    ArrayAttr axes, DenseI64ArrayAttr members, Value source,
                                    Value result, int64_t id) {
  Value input = getSharedBuffer(loc, source);
  Value output = buffers[result] = createBuffer(result, Space::shared);
  Value event = builder.create<StartOp>(loc, EventType::get(builder.getContext()), kind, reduction,
                                        axes, members, input, output, id);
  builder.create<WaitOp>(loc, event);
}

void BlockLowering::lowerCollective(dist::CollectiveOpInterface op) {
  startCollective(op.getLoc(), op.getCollective(), op.getReduction(), op.getAxes(),
                  /*members=*/{}, op->getOperand(0), op->getResult(0), nextId++);
}

void BlockLowering::lowerMessage(Operation *op) {
  const Location loc = op->getLoc();
  Type type = EventType::get(builder.getContext());
  Value event;
  if (auto sum = dyn_cast<dist::StageReduceOp>(op))
    return startCollective(loc, dist::Collective::all_reduce, dist::Reduction::sum,
                           builder.getArrayAttr(sum.getAxisAttr()), sum.getStagesAttr(),
                           sum.getInput(), sum.getResult(), sum.getNumber());
  if (auto send = dyn_cast<dist::SendOp>(op)) {
    event = builder.create<StartSendOp>(loc, type, getSharedBuffer(loc, send.getInput()),
                                        send.getStage(), send.getAxis(), send.getNumber());
  } else {
    auto recv = cast<dist::RecvOp>(op);
    Value buffer = buffers[recv.getResult()] = createBuffer(recv.getResult(), Space::shared);
    event = builder.create<StartRecvOp>(loc, type, buffer, recv.getStage(), recv.getAxis(),
                                        recv.getNumber());
  }
  builder.create<WaitOp>(loc, event);
}

void BlockLowering::lowerCall(func::CallOp call) {
  auto kernel = kernels.lookup<func::FuncOp>(call.getCallee());
  SmallVector<Value> inputs, outputs, scratch;
  for (Value operand : call->getOperands())
    inputs.push_back(buffers.lookup(operand));
  for (Value result : call->getResults())
    outputs.push_back(createResultBuffer(result));
  if (int64_t bytes = getScratchBytes(kernel))
    scratch.push_back(builder.create<BufferOp>(
        call.getLoc(), MemRefType::get({bytes}, builder.getI8Type()), Space::arena));
  builder.create<LaunchOp>(call.getLoc(), call.getCallee(), inputs, outputs, scratch);
}

LogicalResult BlockLowering::lowerMicro(dist::MicroOp micro) {
  Location loc = micro.getLoc();
  Block &body = micro.getBodyBlock();
  for (auto [index, result] : llvm::enumerate(micro.getResults())) {
    Value buffer = createResultBuffer(result);
    if (micro.getResultKind(index) == MicroKind::summed)
      builder.create<ZeroOp>(loc, buffer);
  }
  if (!dist::piecesOf(micro).empty())
    return PieceLowering(*this, micro).run();
  auto loop = builder.create<LoopOp>(loc, micro.getCount());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&loop.getBody().emplaceBlock());
  auto slice = [&](Value stacked, Type tensor) -> Value {
    return builder.create<ViewOp>(loc, bufferOf(tensor), stacked, 0, tensorBytes(tensor));
  };
  for (auto [index, operand, argument] : llvm::enumerate(micro.getInputs(), body.getArguments())) {
    Value buffer = buffers.lookup(operand);
    buffers[argument] = micro.getOperandKind(index) == MicroKind::sliced
                            ? slice(buffer, argument.getType())
                            : buffer;
  }
  if (failed(run(body)))
    return failure();
  for (auto [index, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    Value result = buffers.lookup(micro.getResult(index));
    if (micro.getResultKind(index) == MicroKind::stacked)
      builder.create<CopyOp>(loc, buffers.lookup(value), slice(result, value.getType()));
    else if (failed(addToSum(micro, result, value)))
      return failure();
  }
  return success();
}

/// Launches the kernel that adds the value of one microbatch to `sum` in place.
LogicalResult BlockLowering::addToSum(dist::MicroOp micro, Value sum, Value value) {
  func::FuncOp add = getAccumulateKernel(micro->getParentOfType<ModuleOp>(), value.getType());
  if (!add)
    return micro.emitOpError("sums ") << value.getType() << ", but nothing was outlined for that";
  auto flatten = [&](Value buffer) -> Value {
    return builder.create<ViewOp>(micro.getLoc(), bufferOf(add.getResultTypes()[0]), buffer);
  };
  sum = flatten(sum);
  builder.create<LaunchOp>(micro.getLoc(), add.getSymName(),
                           ValueRange{sum, flatten(buffers.lookup(value))}, ValueRange{sum},
                           ValueRange());
  return success();
}

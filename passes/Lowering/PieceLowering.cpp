// Lowers the pieces of a pipelined loop to routines, and their order to runs of these routines.

#include "passes/Lowering/PieceLowering.h"

#include "dialects/NN/IR/Shape.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;
using dist::MicroKind;

/// Members of frames begin at multiples of this many bytes, like buffers.
static constexpr int64_t kAlignment = 64;

PieceLowering::PieceLowering(BlockLowering &outer, dist::MicroOp micro)
    : outer(outer), micro(micro), body(micro.getBodyBlock()), pieces(dist::piecesOf(micro)) {
  for (Operation &op : body)
    if (auto send = dyn_cast<dist::SendOp>(op))
      messages[send.getNumber()] = &op;
    else if (auto recv = dyn_cast<dist::RecvOp>(op))
      messages[recv.getNumber()] = &op;
}

LogicalResult PieceLowering::run() {
  auto text = micro->getAttrOfType<StringAttr>(dist::DistDialect::kOrderAttrName);
  if (!text)
    return micro.emitOpError("has pieces, but no order (dpc-schedule-pipeline)");
  llvm::Expected<StageOrder> order = StageOrder::parse(text.getValue());
  if (!order)
    return micro.emitOpError("has an order: ") << llvm::toString(order.takeError());
  findFrames();
  for (dist::PieceOp piece : pieces)
    if (failed(lowerPiece(piece)))
      return failure();
  return emit(*order);
}

void PieceLowering::findFrames() {
  auto pieceOf = [&](Operation *op) -> int64_t {
    for (auto [index, piece] : llvm::enumerate(pieces))
      if (piece->isAncestor(op))
        return index;
    return -1;
  };
  int64_t received = pieces.size();
  for (Operation &op : body.without_terminator())
    for (Value value : op.getResults()) {
      // The position of the last piece that reads the value; -1 if none does.
      int64_t last = -1;
      bool isSent = false;
      for (Operation *user : value.getUsers()) {
        last = std::max(last, pieceOf(user));
        isSent |= isa<dist::SendOp>(user);
      }
      const bool isReceived = isa<dist::RecvOp>(op);
      if (last < 0 && !isSent && !isReceived)
        continue; // the loop yields it
      // Other ranks access messages and operands of collectives.
      const bool isShared = isSent || isReceived || dist::feedsCollective(value);
      const int64_t maker = isReceived ? received++ : pieceOf(&op);
      const Space space = isShared ? Space::shared : Space::arena;
      Frame &frame = frames[{maker, last, space}];
      frame.space = space;
      frame.members.push_back({value, frame.bytes});
      frame.bytes += llvm::alignTo(tensorBytes(value.getType()), kAlignment);
    }
  int64_t number = 0;
  for (auto &[key, frame] : frames) {
    frame.number = number++;
    for (auto [value, offset] : frame.members)
      frameOf[value] = &frame;
  }
}

MemRefType PieceLowering::typeOf(const Frame &frame) const {
  if (frame.members.size() == 1)
    return bufferOf(frame.members[0].first.getType());
  return MemRefType::get({frame.bytes}, outer.builder.getI8Type());
}

Value PieceLowering::partOf(OpBuilder &builder, Value value, Value whole, const Frame &frame) {
  for (auto [member, offset] : frame.members)
    if (member == value && frame.members.size() > 1)
      return builder.create<ViewOp>(value.getLoc(), bufferOf(value.getType()), whole, offset);
  return whole;
}

Value PieceLowering::instanceOf(const Frame &frame, int64_t microbatch) {
  Value &buffer = instances[{&frame, microbatch}];
  if (!buffer) {
    auto made =
        outer.builder.create<BufferOp>(frame.members[0].first.getLoc(), typeOf(frame), frame.space);
    made.setValue(frame.number);
    made.setMicro(microbatch);
    buffer = made;
  }
  return buffer;
}

LogicalResult PieceLowering::lowerPiece(dist::PieceOp piece) {
  Routine &routine = routines.emplace_back();
  auto entry = cast<EntryOp>(outer.builder.getInsertionBlock()->getParentOp());
  OpBuilder builder(entry);
  builder.setInsertionPointAfter(entry);
  const Location loc = piece.getLoc();
  const std::string name =
      (entry.getSymName() + "." + piece.getKind() + Twine(piece.getChunk())).str();
  routine.op = builder.create<RoutineOp>(loc, name, entry.getSymName(), micro.getCount(),
                                         /*frames=*/0);
  builder.setInsertionPointToEnd(&routine.op.getBody().emplaceBlock());

  // Gives the routine an operand, and returns the exec.frame of it.
  auto addFrame = [&](Operand operand, MemRefType type, Space space) -> Value {
    routine.operands.push_back(operand);
    return builder.create<FrameOp>(loc, type, routine.operands.size() - 1, space);
  };
  llvm::DenseMap<const Frame *, Value> ownFrames;
  auto getPart = [&](Value value) -> Value {
    const Frame *frame = frameOf.lookup(value);
    Value &whole = ownFrames[frame];
    if (!whole)
      whole = addFrame({frame, Value()}, typeOf(*frame), frame->space);
    return partOf(builder, value, whole, *frame);
  };
  // A buffer of the entry, in the routine: the same persistent buffer, or a frame.
  llvm::DenseMap<Value, Value> imported;
  std::function<Value(Value)> import = [&](Value buffer) -> Value {
    Value &own = imported[buffer];
    if (own)
      return own;
    Operation *op = buffer.getDefiningOp();
    Value made;
    if (auto view = dyn_cast<ViewOp>(op)) {
      Value source = import(view.getSource());
      made = builder.clone(*op)->getResult(0);
      made.getDefiningOp<ViewOp>().getSourceMutable().assign(source);
    } else if (auto root = dyn_cast<BufferOp>(op)) {
      made = addFrame({nullptr, buffer}, root.getType(), root.getSpace());
    } else {
      made = builder.clone(*op)->getResult(0);
    }
    return imported[buffer] = made;
  };
  auto slice = [&](Value stacked, Type tensor) -> Value {
    return builder.create<ViewOp>(loc, bufferOf(tensor), stacked, 0, tensorBytes(tensor));
  };

  BlockLowering inner(builder, outer.persistentBuffers, outer.kernels, outer.nextId);
  for (Value value : dist::readBy(piece)) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (frameOf.contains(value)) {
      inner.buffers[value] = getPart(value);
    } else if (argument && argument.getOwner() == &body) {
      Value buffer = import(outer.buffers.lookup(micro.getInputs()[argument.getArgNumber()]));
      inner.buffers[value] = micro.getOperandKind(argument.getArgNumber()) == MicroKind::sliced
                                 ? slice(buffer, value.getType())
                                 : buffer;
    } else {
      return piece.emitOpError("reads a value that no piece computes");
    }
  }
  if (failed(inner.run(piece.getBodyBlock())))
    return failure();
  for (auto [result, value] :
       llvm::zip_equal(piece.getResults(), piece.getBodyBlock().getTerminator()->getOperands())) {
    Value source = inner.buffers.lookup(value);
    if (frameOf.contains(result))
      builder.create<CopyOp>(loc, source, getPart(result));
    for (OpOperand &use : result.getUses()) {
      if (use.getOwner() != body.getTerminator())
        continue;
      Value whole = micro.getResult(use.getOperandNumber());
      Value target = import(outer.buffers.lookup(whole));
      if (micro.getResultKind(use.getOperandNumber()) == MicroKind::stacked)
        builder.create<CopyOp>(loc, source, slice(target, value.getType()));
      else if (failed(inner.addToSum(micro, target, value)))
        return failure();
    }
  }
  routine.op.setFrames(routine.operands.size());
  return success();
}

LogicalResult PieceLowering::emit(const StageOrder &order) {
  OpBuilder &builder = outer.builder;
  for (const StageStep &step : order.steps) {
    if (step.kind != StageStep::run) {
      if (failed(emitMessage(step)))
        return failure();
      continue;
    }
    if (step.index >= int64_t(routines.size()))
      return micro.emitOpError("orders piece ") << step.index << " of " << routines.size();
    Routine &routine = routines[step.index];
    SmallVector<Value> operands;
    for (const Operand &operand : routine.operands)
      operands.push_back(operand.frame ? instanceOf(*operand.frame, step.microbatch)
                                       : operand.buffer);
    builder.create<RunOp>(routine.op.getLoc(), routine.op.getSymName(), step.microbatch, operands);
  }
  return success();
}

LogicalResult PieceLowering::emitMessage(const StageStep &step) {
  OpBuilder &builder = outer.builder;
  Operation *message = messages.lookup(step.index);
  Value &event = events[{step.index, step.microbatch}];
  if (!message || (step.kind == StageStep::wait) != bool(event))
    return micro.emitOpError("orders message ") << step.index << ", which is not there";
  const Location loc = message->getLoc();
  Type type = EventType::get(builder.getContext());
  if (step.kind == StageStep::wait) {
    builder.create<WaitOp>(loc, event);
  } else if (auto send = dyn_cast<dist::SendOp>(message)) {
    const Frame *frame = frameOf.lookup(send.getInput());
    if (!frame)
      return send.emitOpError("sends a value that no piece computes");
    Value buffer = partOf(builder, send.getInput(), instanceOf(*frame, step.microbatch), *frame);
    event = builder.create<StartSendOp>(loc, type, buffer, send.getStage(), send.getAxis(),
                                        send.getNumber());
  } else {
    auto recv = cast<dist::RecvOp>(message);
    const Frame &frame = *frameOf.lookup(recv.getResult());
    event = builder.create<StartRecvOp>(loc, type, instanceOf(frame, step.microbatch),
                                        recv.getStage(), recv.getAxis(), recv.getNumber());
  }
  return success();
}

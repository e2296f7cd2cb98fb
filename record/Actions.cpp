// Writes the ops of an entry as the action table that the runtime performs. The
// location of an action names the ONNX nodes from which the action was made.

#include "record/Actions.h"

#include "dialects/Interfaces/NodeNames.h"
#include "dpc/program.h"
#include "record/AbiNumbers.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

uint32_t LocationTable::get(Location loc) {
  auto [node, path] = namesOf(loc);
  if (node.empty())
    return DPC_NONE;
  auto [entry, isNew] = known.try_emplace(node + '\0' + path, count);
  if (isNew) {
    uint64_t at = image.append(dpc_location_t{});
    image.setPointer(at + offsetof(dpc_location_t, node), pool.getString(node));
    image.setPointer(at + offsetof(dpc_location_t, module), pool.getString(path));
    ++count;
  }
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

static int64_t elementsOf(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getNumElements();
}

static uint32_t dtypeOfBuffer(Value buffer) {
  return dtypeOf(cast<MemRefType>(buffer.getType()).getElementType());
}

LogicalResult ActionTable::run(EntryOp entry) {
  return visit(entry.getBodyBlock(), /*inLoop=*/false);
}

LogicalResult ActionTable::visit(Block &block, bool inLoop) {
  for (Operation &op : block)
    if (!namesMemory(&op))
      if (failed(visit(&op, inLoop)))
        return failure();
  return success();
}

template <typename Message>
void ActionTable::startMessage(dpc_action_t &action, Message message, uint32_t kind) {
  action.kind = DPC_ACTION_START;
  action.op = kind;
  action.event = events.try_emplace(message.getEvent(), eventCount++).first->second;
  action.group = mesh.getFamily({message.getAxis().str()});
  action.peer = static_cast<uint32_t>(message.getPeer());
  action.dtype = dtypeOfBuffer(message.getBuffer());
  action.count = elementsOf(message.getBuffer());
  action.buffer_id = message.getId();
  // Outside of loops, the messages of one number are those of the microbatches in their order, or
  // one message of the step.
  if (!(action.flags & DPC_ACTION_MICRO_RELATIVE))
    action.micro = messages[{message.getId(), kind}]++;
}

LogicalResult ActionTable::visit(Operation *op, bool inLoop) {
  for (Value operand : op->getOperands()) {
    if (!isa<MemRefType>(operand.getType()))
      continue;
    if (const Place place = placeOf(operand, symbols); isa<RunOp>(op))
      continue;
    else if (place.stride || (place.shardAxes && !isa<StartOp>(op)))
      return op->emitOpError("uses a slice of a microbatch or a rank's share, "
                             "which only computations can");
  }
  if (auto runs = dyn_cast<RunOp>(op))
    return visitRun(runs);
  const ValueRange own = currentRun ? ValueRange(currentRun.getFrames()) : ValueRange();
  dpc_action_t action = {};
  action.group = DPC_NONE;
  action.flags = inLoop ? uint32_t(DPC_ACTION_MICRO_RELATIVE) : 0;
  action.micro = currentRun ? int32_t(currentRun.getMicro()) : 0;
  action.location = locations.get(op->getLoc());
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    action.kind = DPC_ACTION_COMPUTE;
    action.function = functions.lookup(compute.getCallee());
  } else if (auto zero = dyn_cast<ZeroOp>(op)) {
    action.kind = DPC_ACTION_ZERO;
    action.dtype = dtypeOfBuffer(zero.getOutput());
    action.count = elementsOf(zero.getOutput());
    action.out = buffers.getBuffer(zero.getOutput(), own);
  } else if (auto start = dyn_cast<StartOp>(op)) {
    action.kind = DPC_ACTION_START;
    action.op = abiNumberOf(start.getKind());
    action.reduction = abiNumberOf(start.getReduction());
    action.event = events.try_emplace(start.getEvent(), eventCount++).first->second;
    action.group =
        mesh.getFamily(start.getAxes(), start.getMembers().value_or(ArrayRef<int64_t>()));
    action.dtype = dtypeOfBuffer(start.getInput());
    // If one buffer has the parts of all members, `count` is the size of one part:
    // the size of the smaller buffer. In an all-to-all, both buffers have all parts.
    action.count = std::min(elementsOf(start.getInput()), elementsOf(start.getOutput()));
    if (start.getKind() == dist::Collective::all_to_all)
      action.count /= mesh.getGroupSize(action.group);
    action.buffer_id = start.getId();
    action.in = buffers.getBuffer(start.getInput(), own);
    action.out = buffers.getBuffer(start.getOutput(), own);
  } else if (auto send = dyn_cast<StartSendOp>(op)) {
    startMessage(action, send, DPC_OP_SEND);
    action.in = buffers.getBuffer(send.getBuffer());
  } else if (auto recv = dyn_cast<StartRecvOp>(op)) {
    startMessage(action, recv, DPC_OP_RECV);
    action.out = buffers.getBuffer(recv.getBuffer());
  } else if (auto wait = dyn_cast<WaitOp>(op)) {
    action.kind = DPC_ACTION_WAIT;
    action.event = events.lookup(wait.getEvent());
  } else if (auto loop = dyn_cast<LoopOp>(op)) {
    action.kind = DPC_ACTION_LOOP_BEGIN;
    action.flags = 0;
    action.count = loop.getCount();
    uint32_t begin = count++;
    uint64_t at = image.append(action);
    if (failed(visit(loop.getBodyBlock(), /*inLoop=*/true)))
      return failure();
    image.overwrite(at + offsetof(dpc_action_t, jump), count);
    action.kind = DPC_ACTION_LOOP_END;
    action.count = 0;
    action.jump = begin;
  } else {
    return op->emitOpError("is no action of the runtime");
  }
  const uint64_t at = image.append(action);
  if (action.kind == DPC_ACTION_COMPUTE)
    image.setPointer(at + offsetof(dpc_action_t, args), frames);
  ++count;
  return success();
}

LogicalResult ActionTable::visitRun(RunOp op) {
  RecordImage table;
  for (Value buffer : op.getFrames()) {
    const dpc_buffer_t place = buffers.getBuffer(buffer);
    dpc_frame_t frame = {};
    frame.offset = place.offset;
    frame.buffer = place.buffer;
    table.append(frame);
  }
  currentRun = op;
  frames = table.emit(target, "frames");
  auto routine = symbols.lookupNearestSymbolFrom<RoutineOp>(op, op.getRoutineAttr());
  const LogicalResult added = visit(routine.getBodyBlock(), /*inLoop=*/false);
  currentRun = {};
  frames = nullptr;
  return added;
}

// Writes the table of a program's logical buffers, with the place of each buffer in
// memory, and the table of the accesses of each function to these buffers.

#include "record/BufferTable.h"

#include "dialects/Exec/IR/Accesses.h"
#include "dialects/Interfaces/NodeNames.h"

#include <map>

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

void BufferTable::add(Operation *root, int64_t bytes, uint32_t kind, StringRef name) {
  dpc_logical_buffer_t record = {};
  record.kind = kind;
  record.space = uint32_t(spaceOf(root));
  record.offset = *offsetOf(root);
  record.bytes = bytes;
  if (auto buffer = dyn_cast<BufferOp>(root); buffer && buffer.getValue()) {
    record.frame = uint32_t(*buffer.getValue()) + 1;
    record.micro = uint32_t(*buffer.getMicro());
  }
  uint64_t at = buffers.append(record);
  buffers.setPointer(at + offsetof(dpc_logical_buffer_t, name), pool.getString(name));
}

LogicalResult BufferTable::run() {
  findRuns();
  for (auto persistent : module.getOps<PersistentOp>()) {
    if (!persistent.getOffset())
      return persistent.emitOpError("has no offset");
    const bool isResult = isa<nn::ResultAttr>(persistent.getBinding());
    persistentIndex[persistent] = size();
    add(persistent, bufferBytes(persistent.getType()),
        isResult ? DPC_BUFFER_RESULT : DPC_BUFFER_FILLED, persistent.getSymName());
  }
  // Several functions and entries may refer to one buffer, by its number. Each buffer
  // gets one record.
  std::map<int64_t, BufferOp> temporaries;
  WalkResult walked = module.walk([&](BufferOp buffer) -> WalkResult {
    if (!buffer.getNumber() || !buffer.getOffset())
      return buffer.emitOpError("has no number or no offset");
    temporaries.try_emplace(*buffer.getNumber(), buffer);
    return success();
  });
  if (walked.wasInterrupted())
    return failure();
  for (auto [number, buffer] : temporaries) {
    temporaryIndex[number] = size();
    add(buffer, bufferBytes(buffer.getType()), DPC_BUFFER_TEMPORARY,
        namesOf(buffer.getLoc()).nodes);
  }
  return success();
}

void BufferTable::findRuns() {
  llvm::DenseSet<Attribute> seen; // looked up by key only
  module.walk([&](RunOp run) {
    if (!seen.insert(run.getRoutineAttr()).second)
      return;
    auto routine = symbols.lookupNearestSymbolFrom<RoutineOp>(run, run.getRoutineAttr());
    for (auto compute : routine.getBodyBlock().getOps<ComputeOp>())
      firstRuns.try_emplace(compute.getCallee(), run);
  });
}

Operation *BufferTable::ownerOf(FrameOp frame, FunctionOp function) {
  RunOp run = firstRuns.lookup(function.getSymName());
  return placeOf(run.getFrames()[frame.getNumber()], symbols).root;
}

uint32_t BufferTable::getIndex(Operation *root) const {
  if (auto buffer = dyn_cast<BufferOp>(root))
    return temporaryIndex.lookup(*buffer.getNumber());
  return persistentIndex.lookup(root);
}

dpc_buffer_t BufferTable::getBuffer(Value buffer, ValueRange frames) const {
  Place place = placeOf(buffer, symbols);
  dpc_buffer_t result = {};
  if (auto frame = dyn_cast<FrameOp>(place.root)) {
    result = getBuffer(frames[frame.getNumber()]);
    result.offset += place.offset;
    result.index_stride = place.shardStride;
    return result;
  }
  result.space = uint32_t(spaceOf(place.root));
  result.buffer = getIndex(place.root);
  result.offset = *offsetOf(place.root) + place.offset;
  result.index_stride = place.shardStride;
  return result;
}

std::pair<llvm::Constant *, uint64_t> BufferTable::emitAccesses(FunctionOp function) {
  RecordImage accesses;
  uint32_t launch = 0;
  for (Operation &op : function.getBodyBlock()) {
    SmallVector<Access> made = accessesOf(&op);
    auto called = dyn_cast<LaunchOp>(op);
    for (const Access &access : made) {
      Place place = placeOf(access.buffer, symbols);
      dpc_access_t record = {};
      record.kind = !access.isWrite ? DPC_ACCESS_READ
                    : called && llvm::is_contained(called.getScratch(), access.buffer)
                        ? DPC_ACCESS_SCRATCH
                        : DPC_ACCESS_WRITE;
      auto frame = dyn_cast<FrameOp>(place.root);
      record.buffer = getIndex(frame ? ownerOf(frame, function) : place.root);
      record.frame = frame ? frame.getNumber() + 1 : 0;
      record.space = uint32_t(spaceOf(place.root));
      record.family = place.shardAxes ? mesh.getFamily(place.shardAxes) : DPC_NONE;
      record.offset = *offsetOf(place.root) + place.offset;
      record.bytes = bufferBytes(access.buffer.getType());
      record.micro_stride = place.stride;
      record.index_stride = place.shardStride;
      record.launch = launch;
      accesses.append(record);
    }
    launch += !made.empty();
  }
  const uint64_t count = accesses.size() / sizeof(dpc_access_t);
  return {accesses.emit(target, "accesses"), count};
}

#include "dialects/Exec/IR/Accesses.h"

using namespace mlir;
using namespace dpc::exec;

SmallVector<Access> dpc::exec::accessesOf(Operation *op) {
  SmallVector<Access> accesses;
  if (namesMemory(op))
    return accesses;
  auto add = [&](ValueRange buffers, bool isWrite) {
    for (Value buffer : buffers)
      accesses.push_back({buffer, isWrite});
  };
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    add(launch.getInputs(), false);
    add(launch.getOutputs(), true);
    add(launch.getScratch(), true);
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    add(copy.getInput(), false);
    add(copy.getOutput(), true);
  } else if (auto start = dyn_cast<StartOp>(op)) {
    add(start.getInput(), false);
    add(start.getOutput(), true);
  } else if (auto send = dyn_cast<StartSendOp>(op)) {
    add(send.getBuffer(), false);
  } else {
    for (Value operand : op->getOperands())
      if (isa<MemRefType>(operand.getType()))
        add(operand, true);
  }
  return accesses;
}

Extent::Extent(Value buffer, SymbolTableCollection &symbols)
    : place(placeOf(buffer, symbols)), bytes(bufferBytes(buffer.getType())) {}

/// Whether `a` and `b` keep the same distance in every microbatch and on every
/// rank. If so, comparing their constant offsets is enough to tell whether they
/// overlap.
static bool moveAlike(const Place &a, const Place &b) {
  return a.stride == b.stride && a.shardStride == b.shardStride && a.shardAxes == b.shardAxes;
}

bool Extent::equals(const Extent &other) const {
  return place.root == other.place.root && place.offset == other.place.offset &&
         bytes == other.bytes && moveAlike(place, other.place);
}

bool Extent::mayOverlap(const Extent &other) const {
  if (place.root != other.place.root)
    return false;
  if (!moveAlike(place, other.place))
    return true;
  return place.offset < other.place.offset + other.bytes &&
         other.place.offset < place.offset + bytes;
}

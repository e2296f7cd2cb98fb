// Computes the steps during which each buffer of a module holds data, from the order of the ops.

#include "passes/Memory/Liveness.h"

#include "dialects/Exec/IR/Bindings.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Exec/IR/InPlace.h"
#include "dialects/Exec/IR/Kernels.h"
#include "dialects/Interfaces/NodeNames.h"
#include "dialects/NN/IR/Program.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

Liveness::Liveness(RoutineOp routine) {
  setRegions();
  visit(routine.getBodyBlock());
  ++step;
  addBuffers();
}

void Liveness::setRegions() {
  problem.regions.assign(getMaxEnumValForSpace() + 1, MemoryRegion());
  for (auto [index, region] : llvm::enumerate(problem.regions))
    region.name = stringifySpace(Space(index)).str();
}

Liveness::Liveness(ModuleOp module, ArrayRef<int64_t> routineBytes) {
  setRegions();
  for (auto entry : module.getOps<EntryOp>()) {
    isStep = entry.getSymName() == "step";
    visit(entry.getBodyBlock());
  }
  ++step;
  for (auto persistent : module.getOps<PersistentOp>())
    add(persistent, persistent.getBufferType(), persistent.getSpace(), 0, step);
  for (auto [space, bytes] : llvm::enumerate(routineBytes))
    if (bytes > 0 && firstRun >= 0) {
      owners.push_back(nullptr);
      LiveBuffer &buffer = problem.buffers.emplace_back();
      buffer.size = bytes;
      buffer.firstUse = firstRun;
      buffer.lastUse = lastRun + 1;
      buffer.region = int64_t(space);
    }
  addBuffers();
}

void Liveness::addBuffers() {
  for (auto &[op, range] : ranges) {
    auto buffer = cast<BufferOp>(op);
    add(op, buffer.getType(), buffer.getSpace(), range.first, range.second);
  }
  for (auto [output, input] : replacements)
    problem.buffers[indexOf.lookup(output)].inPlaceOf = indexOf.lookup(input);
}

/// Whether `buffer` covers all bytes of an exec.buffer. `place` is the position of `buffer`.
static bool isWhole(Value buffer, const Place &place) {
  return isa_and_nonnull<BufferOp>(place.root) && place.stride == 0 &&
         bufferBytes(place.root->getResult(0).getType()) == bufferBytes(buffer.getType());
}

/// Whether exactly one operand of `launch` reads `root`. A second operand could read elements that
/// an in-place result has already overwritten.
static bool readsOnce(LaunchOp launch, Operation *root, SymbolTableCollection &symbols) {
  return llvm::count_if(launch.getInputs(),
                        [&](Value input) { return placeOf(input, symbols).root == root; }) == 1;
}

void Liveness::visit(Block &block) {
  for (Operation &op : block) {
    if (namesMemory(&op))
      continue;
    ++step;
    if (isStep)
      record(&op);
    if (isa<RunOp>(op)) {
      firstRun = firstRun < 0 ? step : firstRun;
      lastRun = step;
    }
    if (auto loop = dyn_cast<LoopOp>(op)) {
      int64_t first = step;
      visit(loop.getBodyBlock());
      ++step;
      // If the loop uses a buffer that is defined outside of the loop, every iteration may read the
      // buffer, so the buffer is live during the complete loop.
      loop.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (auto buffer = dyn_cast_or_null<BufferOp>(placeOf(operand, symbols).root))
            if (!loop->isAncestor(buffer)) {
              use(buffer, first);
              use(buffer, step);
            }
      });
      continue;
    }
    for (Value operand : op.getOperands())
      if (isa<MemRefType>(operand.getType()))
        use(placeOf(operand, symbols).root, step);
    if (auto wait = dyn_cast<WaitOp>(op)) {
      // A collective accesses its buffers until its wait, so the wait counts as a use of these
      // buffers.
      for (Value operand : wait.getEvent().getDefiningOp()->getOperands())
        use(placeOf(operand, symbols).root, step);
    }
    if (auto launch = dyn_cast<LaunchOp>(op))
      visitLaunch(launch);
  }
}

void Liveness::visitLaunch(LaunchOp launch) {
  func::FuncOp kernel = findFunction(launch, symbols);
  llvm::SmallPtrSet<Operation *, 4> taken;
  for (auto [result, output] : llvm::enumerate(launch.getOutputs())) {
    Place to = placeOf(output, symbols);
    if (!isWhole(output, to))
      continue;
    for (auto [operand, input] : llvm::enumerate(launch.getInputs())) {
      Place from = placeOf(input, symbols);
      if (!isWhole(input, from) || from.root == to.root ||
          !mayComputeInPlace(kernel, operand, result) || !readsOnce(launch, from.root, symbols) ||
          !taken.insert(from.root).second)
        continue;
      replacements.push_back({to.root, from.root});
      break;
    }
  }
}

void Liveness::use(Operation *root, int64_t at) {
  if (!isa_and_nonnull<BufferOp>(root))
    return;
  auto [entry, isNew] = ranges.insert({root, {at, at + 1}});
  if (isNew)
    return;
  entry->second.first = std::min(entry->second.first, at);
  entry->second.second = std::max(entry->second.second, at + 1);
}

void Liveness::add(Operation *op, Type type, Space space, int64_t first, int64_t last) {
  indexOf[op] = owners.size();
  owners.push_back(op);
  LiveBuffer buffer;
  buffer.size = bufferBytes(type);
  buffer.firstUse = first;
  buffer.lastUse = last;
  buffer.region = int64_t(space);
  problem.buffers.push_back(buffer);
}

Liveness::Bytes Liveness::bytesOf(Value buffer) {
  const Place place = placeOf(buffer, symbols);
  auto type = cast<MemRefType>(buffer.getType());
  // The position of `buffer` may depend on the microbatch or, if `buffer` is a shard, on the rank.
  // The range then covers all bytes of `place.root`.
  const bool isOne = place.stride == 0 && !place.shardAxes;
  const int64_t end = isOne ? place.offset + bufferBytes(type) : INT64_MAX;
  return {place.root, isOne ? place.offset : 0, end,
          bufferBytes(type) / std::max<int64_t>(type.getNumElements(), 1)};
}

/// Returns the inputs of `launch` from which result number `result` of its kernel is computed. If
/// the kernel has no body, returns all inputs.
static llvm::BitVector inputsOf(LaunchOp launch, nn::KernelOp body, unsigned result) {
  llvm::BitVector inputs(launch.getInputs().size(), /*t=*/!body);
  if (!body)
    return inputs;
  Block &block = body.getBodyBlock();
  llvm::DenseSet<Value> seen; // looked up by key only
  SmallVector<Value> left = {block.getTerminator()->getOperand(result)};
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(left, op->getOperands());
    else if (auto outer = dyn_cast<BlockArgument>(
                 body.getInputs()[cast<BlockArgument>(value).getArgNumber()]))
      inputs.set(outer.getArgNumber());
  }
  return inputs;
}

/// Records the bytes that `op` reads and writes, if `op` is a launch, a copy or the start of a
/// collective. A loop has no record of its own, because its inner ops have records.
void Liveness::record(Operation *op) {
  auto add = [&](Value written, Location maker) -> Access & {
    Access &access = accesses.emplace_back();
    access.step = step;
    access.written = bytesOf(written);
    makers.insert({access.written.root, maker});
    return access;
  };
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    auto body = dyn_cast_or_null<nn::KernelOp>(findKernelBody(launch, symbols));
    for (auto [index, output] : llvm::enumerate(launch.getOutputs())) {
      Location maker = launch.getLoc();
      if (body)
        if (Operation *made =
                body.getBodyBlock().getTerminator()->getOperand(index).getDefiningOp())
          maker = made->getLoc();
      Access &access = add(output, maker);
      const llvm::BitVector inputs = inputsOf(launch, body, index); // must outlive the loop
      for (unsigned input : inputs.set_bits())
        access.reads.push_back(bytesOf(launch.getInputs()[input]));
    }
    for (Value scratch : launch.getScratch())
      makers.insert({placeOf(scratch, symbols).root, launch.getLoc()});
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    add(copy.getOutput(), op->getLoc()).reads = {bytesOf(copy.getInput())};
  } else if (auto start = dyn_cast<StartOp>(op)) {
    // If the input and the output of a collective lie in the same buffer, the input is not
    // recorded: countForwardBytes() finds the earlier ops that write this buffer by the bytes of
    // the output.
    Access &access = add(start.getOutput(), op->getLoc());
    if (const Bytes input = bytesOf(start.getInput()); input.root != access.written.root)
      access.reads = {input};
  } else if (auto recv = dyn_cast<StartRecvOp>(op)) {
    add(recv.getBuffer(), op->getLoc());
  }
}

int64_t Liveness::countForwardBytes() const {
  auto isLoss = [](Operation *root) {
    auto persistent = dyn_cast<PersistentOp>(root);
    auto result = persistent ? dyn_cast<nn::ResultAttr>(persistent.getBinding()) : nn::ResultAttr();
    return result && result.getKind() == nn::ResultKind::metric && result.getName() == "loss";
  };
  // For each buffer, the byte ranges from which the loss is computed. Looked up by key only.
  llvm::DenseMap<Operation *, SmallVector<Bytes, 1>> wanted;
  int64_t last = -1;
  for (const Access &access : llvm::reverse(accesses)) {
    const Bytes &written = access.written;
    bool isWanted = isLoss(written.root), isTensor = false;
    if (auto parts = wanted.find(written.root); parts != wanted.end())
      for (const Bytes &part : parts->second) {
        const int64_t common =
            std::min(part.end, written.end) - std::max(part.begin, written.begin);
        isWanted |= common > 0;
        isTensor |= common > part.elementSize;
      }
    if (!isWanted)
      continue;
    if (isTensor)
      last = std::max(last, access.step);
    // Reads of state are left out, because an op that writes state in place writes it for the next
    // step.
    for (const Bytes &read : access.reads)
      if (isa<BufferOp>(read.root))
        wanted[read.root].push_back(read);
  }
  int64_t bytes = 0;
  for (auto [op, buffer] : llvm::zip_equal(owners, problem.buffers))
    if (last >= 0 && isa_and_nonnull<BufferOp>(op) && buffer.firstUse <= last &&
        buffer.lastUse > last + 1)
      bytes += buffer.size;
  return bytes;
}

/// Returns a name for the buffer of `owner`; empty if it has none. A persistent buffer has the name
/// of its binding. Any other buffer has the name of the ONNX node of the op of @step that first
/// writes the buffer.
std::string Liveness::nameOf(Operation *owner) const {
  if (auto persistent = dyn_cast<PersistentOp>(owner))
    return nameOfBinding(persistent);
  auto maker = makers.find(owner);
  return maker == makers.end() ? "" : firstNodeOf(maker->second).str();
}

SmallVector<LiveTensorAttr> Liveness::findLargest(int64_t step, size_t most) const {
  SmallVector<size_t> live;
  for (auto [index, buffer] : llvm::enumerate(problem.buffers))
    if (owners[index] && buffer.firstUse <= step && step < buffer.lastUse)
      live.push_back(index);
  llvm::stable_sort(
      live, [&](size_t a, size_t b) { return problem.buffers[a].size > problem.buffers[b].size; });
  SmallVector<LiveTensorAttr> largest;
  for (size_t index : ArrayRef(live).take_front(most)) {
    Operation *owner = owners[index];
    Type type = isa<PersistentOp>(owner) ? cast<PersistentOp>(owner).getBufferType()
                                         : owner->getResult(0).getType();
    largest.push_back(
        LiveTensorAttr::get(owner->getContext(), nameOf(owner), type, problem.buffers[index].size));
  }
  return largest;
}

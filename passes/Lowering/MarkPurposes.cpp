// Finds the purpose of each buffer and each collective of an entry: gradients, parameters, gathered
// parameters, metrics or activations.

#include "passes/Lowering/Passes.h"

#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dialects/Exec/IR/Kernels.h"
#include "dialects/NN/IR/JoinedKernels.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_MARKPURPOSES
#include "passes/Lowering/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;

namespace {

/// The buffers of the updates of an entry, as exec.buffer or exec.persistent ops. `read` has the
/// temporary buffers that hold tensor operands of updates. `written` has the buffers that updates
/// write.
struct Updates {
  llvm::DenseSet<Operation *> read, written;
  SymbolTableCollection &symbols;

  explicit Updates(SymbolTableCollection &symbols) : symbols(symbols) {}

  void add(LaunchOp launch) {
    Operation *kernel = findKernelBody(launch, symbols);
    if (!kernel || !nn::holdsUpdates(kernel))
      return;
    ValueRange tensors = launch.getInputs();
    if (auto update = dyn_cast<nn::UpdateOp>(kernel))
      tensors = tensors.take_front(update.getTensors().size());
    for (Value input : tensors)
      if (Operation *root = placeOf(input, symbols).root;
          isa<BufferOp>(root) && cast<MemRefType>(input.getType()).getRank() > 0)
        read.insert(root);
    for (Value output : launch.getOutputs())
      written.insert(placeOf(output, symbols).root);
  }
};

} // namespace

/// Whether `buffer` holds only scalars: it is a scalar itself, or it has views and all of them are
/// scalars.
static bool holdsNumbers(Operation *buffer) {
  auto isNumber = [](Value value) {
    return cast<MemRefType>(value.getType()).getNumElements() == 1;
  };
  if (!isa<BufferOp>(buffer) || isNumber(buffer->getResult(0)))
    return true;
  bool hasViews = false, all = true;
  for (Operation *user : buffer->getUsers())
    if (auto view = dyn_cast<ViewOp>(user)) {
      hasViews = true;
      all &= isNumber(view.getResult());
    }
  return hasViews && all;
}

static Purpose purposeOf(Operation *root, const Updates &updates) {
  if (isa<FrameOp>(root)) // the buffers of the runs have purposes
    return Purpose::activations;
  if (updates.read.contains(root))
    return Purpose::gradients;
  if (updates.written.contains(root))
    return Purpose::parameters;
  if (auto persistent = dyn_cast<PersistentOp>(root)) {
    auto result = dyn_cast<nn::ResultAttr>(persistent.getBinding());
    return result && result.getKind() == nn::ResultKind::metric ? Purpose::metrics
           : result                                             ? Purpose::activations
                                                                : Purpose::parameters;
  }
  return holdsNumbers(root) ? Purpose::metrics : Purpose::activations;
}

static bool isState(Value value, SymbolTableCollection &symbols) {
  auto persistent = dyn_cast<PersistentOp>(placeOf(value, symbols).root);
  return persistent && llvm::any_of(getBoundArgs(persistent),
                                    [](nn::ArgAttr arg) { return nn::isState(arg.getKind()); });
}

/// Whether `start` gathers sharded state. The input of the gather is then the state itself, or a
/// temporary buffer, such as a part of the gather's output. In the second case, each rank has
/// copied or converted its shard of the state into the temporary buffer.
static bool gathersState(StartOp start, SymbolTableCollection &symbols) {
  if (start.getKind() != dist::Collective::all_gather ||
      !isa<BufferOp>(placeOf(start.getOutput(), symbols).root))
    return false;
  const Value part = start.getInput();
  if (isState(part, symbols))
    return true;
  Operation *root = placeOf(part, symbols).root;
  auto fillsPart = [&](Operation *user) {
    if (auto copy = dyn_cast<CopyOp>(user))
      return copy.getOutput() == part && isState(copy.getInput(), symbols);
    auto launch = dyn_cast<LaunchOp>(user);
    return launch && llvm::is_contained(launch.getOutputs(), part) &&
           llvm::all_of(launch.getInputs(), [&](Value input) { return isState(input, symbols); });
  };
  return isa<BufferOp>(root) && llvm::any_of(part.getUsers(), fillsPart);
}

static int64_t elementsOf(Value memory) {
  return cast<MemRefType>(memory.getType()).getNumElements();
}

/// Adds results of reduce-scatters to `updates.read`. A result is added if a kernel reads it and
/// computes from it a gradient of the same size, which an update reads. For example, the kernel
/// adds terms that all ranks have, or it converts the result.
static void addSums(EntryOp entry, Updates &updates) {
  SymbolTableCollection &symbols = updates.symbols;
  llvm::DenseMap<Operation *, int64_t> summed; // elements by buffer; looked up by key only
  entry.walk([&](StartOp start) {
    Operation *root = placeOf(start.getOutput(), symbols).root;
    if (start.getKind() == dist::Collective::reduce_scatter && isa<BufferOp>(root))
      summed[root] = elementsOf(start.getOutput());
  });
  SmallVector<Operation *> found;
  entry.walk([&](LaunchOp launch) {
    for (Value output : launch.getOutputs())
      for (Value input : launch.getInputs())
        if (auto sum = summed.find(placeOf(input, symbols).root);
            sum != summed.end() && sum->second == elementsOf(output) &&
            sum->second == elementsOf(input) &&
            updates.read.contains(placeOf(output, symbols).root))
          found.push_back(sum->first);
  });
  updates.read.insert(found.begin(), found.end());
}

/// Sets the purposes of the buffers and collective starts of `entry` and of its routines.
static void markPurposes(EntryOp entry, SymbolTableCollection &symbols) {
  Updates updates(symbols);
  entry.walk([&](LaunchOp launch) { updates.add(launch); });
  addSums(entry, updates);
  SmallVector<Operation *> parts = {entry};
  for (auto routine : entry->getParentOfType<ModuleOp>().getOps<RoutineOp>())
    if (routine.getEntry() == entry.getSymName())
      parts.push_back(routine);
  auto mark = [&](Operation *op, Purpose purpose) {
    if (purpose != Purpose::activations && !isa<FrameOp>(op))
      op->setAttr(ExecDialect::kPurposeAttrName, PurposeAttr::get(op->getContext(), purpose));
  };
  auto markBuffer = [&](BufferOp buffer) { mark(buffer, purposeOf(buffer, updates)); };
  auto markStart = [&](StartOp start) {
    if (gathersState(start, symbols)) {
      mark(start, Purpose::gathered);
      return mark(placeOf(start.getOutput(), symbols).root, Purpose::gathered);
    }
    Operation *input = placeOf(start.getInput(), symbols).root,
              *output = placeOf(start.getOutput(), symbols).root;
    // A gather of updated parameters reads the buffer that the update wrote, so the purpose of the
    // gather's input counts.
    bool isGathered = updates.written.contains(input);
    mark(start, purposeOf(isGathered ? input : output, updates));
  };
  for (Operation *part : parts) {
    part->walk(markBuffer);
    part->walk(markStart);
  }
}

namespace {

struct MarkPurposesPass : dpc::impl::MarkPurposesBase<MarkPurposesPass> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto entry : getOperation().getOps<EntryOp>())
      markPurposes(entry, symbols);
  }
};

} // namespace

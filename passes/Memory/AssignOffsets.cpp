// Builds the memory problem of all entries from the order of their ops, and
// writes the plan's offsets.

#include "passes/Memory/MemoryPlan.h"
#include "passes/Memory/Passes.h"

#include "dialects/Exec/IR/InPlace.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_ASSIGNOFFSETS
#include "passes/Memory/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;

namespace {

/// Builds the memory problem of a module. Steps count the ops of all entries
/// one after the other.
class Liveness {
public:
  MemoryProblem problem;
  /// By index in problem.buffers: an exec.buffer or exec.persistent.
  SmallVector<Operation *> owners;

  void run(ModuleOp module) {
    problem.regions.assign(getMaxEnumValForSpace() + 1, MemoryRegion());
    for (auto [index, region] : llvm::enumerate(problem.regions))
      region.name = stringifySpace(Space(index)).str();
    for (auto entry : module.getOps<EntryOp>())
      visit(entry.getBodyBlock());
    ++step;
    for (auto persistent : module.getOps<PersistentOp>())
      add(persistent, persistent.getBufferType(), persistent.getSpace(), 0, step);
    for (auto &[op, range] : ranges) {
      auto buffer = cast<BufferOp>(op);
      add(op, buffer.getType(), buffer.getSpace(), range.first, range.second);
    }
    for (auto [output, input] : replacements)
      problem.buffers[indexOf.lookup(output)].inPlaceOf = indexOf.lookup(input);
  }

private:
  void visit(Block &block) {
    for (Operation &op : block) {
      if (isa<BufferOp, GetOp, ViewOp>(op))
        continue;
      ++step;
      if (auto loop = dyn_cast<LoopOp>(op)) {
        int64_t first = step;
        visit(loop.getBodyBlock());
        ++step;
        // Every iteration needs what comes from outside.
        loop.walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            if (auto buffer = dyn_cast_or_null<BufferOp>(placeOf(operand).root))
              if (!loop->isAncestor(buffer)) {
                use(buffer, first);
                use(buffer, step);
              }
        });
        continue;
      }
      for (Value operand : op.getOperands())
        if (isa<MemRefType>(operand.getType()))
          use(placeOf(operand).root, step);
      if (auto wait = dyn_cast<WaitOp>(op)) {
        // A collective touches its buffers until it is waited for.
        for (Value operand : wait.getEvent().getDefiningOp()->getOperands())
          use(placeOf(operand).root, step);
      }
      if (auto launch = dyn_cast<LaunchOp>(op))
        visitLaunch(launch);
    }
  }

  void visitLaunch(LaunchOp launch) {
    auto kernel =
        SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
    llvm::SmallPtrSet<Operation *, 4> taken;
    for (auto [result, output] : llvm::enumerate(launch.getOutputs())) {
      Place to = placeOf(output);
      if (!isWhole(output))
        continue;
      for (auto [operand, input] : llvm::enumerate(launch.getInputs())) {
        Place from = placeOf(input);
        if (!isWhole(input) || from.root == to.root ||
            !mayComputeInPlace(kernel, operand, result) || !readsOnce(launch, from.root) ||
            !taken.insert(from.root).second)
          continue;
        replacements.push_back({to.root, from.root});
        break;
      }
    }
  }

  /// Whether `buffer` is all of an exec.buffer.
  static bool isWhole(Value buffer) {
    Place place = placeOf(buffer);
    return isa_and_nonnull<BufferOp>(place.root) && place.stride == 0 &&
           bufferBytes(place.root->getResult(0).getType()) == bufferBytes(buffer.getType());
  }

  /// Whether one operand alone reads `root`: another one might read elements
  /// that are overwritten.
  static bool readsOnce(LaunchOp launch, Operation *root) {
    return llvm::count_if(launch.getInputs(),
                          [&](Value input) { return placeOf(input).root == root; }) == 1;
  }

  void use(Operation *root, int64_t at) {
    if (!isa_and_nonnull<BufferOp>(root))
      return;
    auto [entry, isNew] = ranges.insert({root, {at, at + 1}});
    if (isNew)
      return;
    entry->second.first = std::min(entry->second.first, at);
    entry->second.second = std::max(entry->second.second, at + 1);
  }

  void add(Operation *op, Type type, Space space, int64_t first, int64_t last) {
    indexOf[op] = owners.size();
    owners.push_back(op);
    LiveBuffer buffer;
    buffer.size = bufferBytes(type);
    buffer.firstUse = first;
    buffer.lastUse = last;
    buffer.region = int64_t(space);
    problem.buffers.push_back(buffer);
  }

  int64_t step = 0;
  llvm::MapVector<Operation *, std::pair<int64_t, int64_t>> ranges;
  DenseMap<Operation *, int64_t> indexOf;
  SmallVector<std::pair<Operation *, Operation *>> replacements;
};

struct AssignOffsetsPass : dpc::impl::AssignOffsetsBase<AssignOffsetsPass> {
  using AssignOffsetsBase::AssignOffsetsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // A buffer that nothing touches needs no place.
    module.walk([](BufferOp buffer) {
      if (buffer->use_empty())
        buffer->erase();
    });
    Liveness liveness;
    liveness.run(module);
    llvm::Expected<MemoryPlan> plan = planMemory(liveness.problem);
    llvm::Error error = plan ? plan->verify(liveness.problem) : plan.takeError();
    if (error) {
      module.emitError("memory plan: ") << llvm::toString(std::move(error));
      return signalPassFailure();
    }
    Builder builder(&getContext());
    for (auto [op, offset] : llvm::zip_equal(liveness.owners, plan->offsets)) {
      IntegerAttr attr = builder.getI64IntegerAttr(offset);
      if (auto buffer = dyn_cast<BufferOp>(op))
        buffer.setOffsetAttr(attr);
      else
        cast<PersistentOp>(op).setOffsetAttr(attr);
    }
    record(module, *plan);
    recordUse(module, liveness);
  }

private:
  static Purpose purposeOf(Operation *buffer) {
    auto attr = buffer->getAttrOfType<PurposeAttr>(ExecDialect::kPurposeAttrName);
    return attr ? attr.getValue() : Purpose::activations;
  }

  /// Leaves on the module what the bytes of a rank are for.
  void recordUse(ModuleOp module, const Liveness &liveness) {
    int64_t state[3] = {}, data = 0; // parameters, optimizer, buffers
    for (auto persistent : module.getOps<PersistentOp>()) {
      int64_t bytes = bufferBytes(persistent.getType());
      SmallVector<nn::ArgAttr> args = getBoundArgs(persistent);
      nn::ArgKind kind = args.empty() ? nn::ArgKind::input : args[0].getKind();
      if (kind == nn::ArgKind::parameter)
        state[0] += bytes;
      else if (kind == nn::ArgKind::optimizer)
        state[1] += bytes;
      else if (kind == nn::ArgKind::buffer || kind == nn::ArgKind::constant)
        state[2] += bytes;
      else
        data += bytes;
    }
    // Bytes that begin (and end, negative) to be live at each step.
    struct Change {
      int64_t gradients = 0, gathered = 0, activations = 0;
      int64_t all() const { return gradients + gathered + activations; }
    };
    std::map<int64_t, Change> changes;
    for (auto [op, buffer] : llvm::zip_equal(liveness.owners, liveness.problem.buffers)) {
      if (!isa<BufferOp>(op))
        continue;
      auto size = [&](int64_t step) -> int64_t & {
        Change &change = changes[step];
        switch (purposeOf(op)) {
        case Purpose::gradients:
          return change.gradients;
        case Purpose::gathered:
          return change.gathered;
        default:
          return change.activations;
        }
      };
      size(buffer.firstUse) += buffer.size;
      size(buffer.lastUse) -= buffer.size;
    }
    Change now, most;
    for (auto &[step, change] : changes) {
      now.gradients += change.gradients;
      now.gathered += change.gathered;
      now.activations += change.activations;
      if (now.all() > most.all())
        most = now;
    }
    int64_t used = state[0] + state[1] + state[2] + data + most.all();
    auto memory = module->getAttrOfType<MemoryAttr>(ExecDialect::kMemoryAttrName);
    // A buffer that takes the place of an operand is counted beside it.
    int64_t gaps = memory.getPeak() - used;
    if (gaps < 0) {
      most.activations += gaps;
      gaps = 0;
    }
    module->setAttr(ExecDialect::kMemoryUseAttrName,
                    MemoryUseAttr::get(&getContext(), state[0], state[1], state[2], data,
                                       most.gradients, most.gathered, most.activations, gaps));
  }

  void record(ModuleOp module, const MemoryPlan &plan) {
    auto bytes = [&](Space space) { return llvm::alignTo(plan.regions[int64_t(space)].peak, 64); };
    int64_t lowerBound = 0, peak = 0;
    for (auto [index, region] : llvm::enumerate(plan.regions)) {
      lowerBound += region.lowerBound;
      peak += bytes(Space(index));
    }
    auto memory =
        MemoryAttr::get(&getContext(), bytes(Space::arena), bytes(Space::shared), peak, lowerBound);
    module->setAttr(ExecDialect::kMemoryAttrName, memory);
    if (explain)
      module.emitRemark("needs ") << peak << " bytes a rank; no plan needs "
                                  << "less than " << lowerBound;
    if (capacityBytes > 0 && peak > capacityBytes) {
      module.emitError("needs ") << peak << " bytes a rank, but " << int64_t(capacityBytes)
                                 << " are allowed";
      signalPassFailure();
    }
  }
};

} // namespace

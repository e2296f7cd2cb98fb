// Builds the memory problem of all entries from the order of their ops, solves it, and writes the
// offsets of the plan to the buffer ops.

#include "passes/Memory/LargestTensors.h"
#include "passes/Memory/Liveness.h"
#include "passes/Memory/Passes.h"

#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/Bindings.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "planning/SizeText.h"

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

/// The largest number of tensors that a message or report lists.
constexpr size_t kNamedTensors = 4;

struct AssignOffsetsPass : dpc::impl::AssignOffsetsBase<AssignOffsetsPass> {
  using AssignOffsetsBase::AssignOffsetsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // A buffer without uses needs no memory.
    module.walk([](BufferOp buffer) {
      if (buffer->use_empty())
        buffer->erase();
    });
    if (oneRegion)
      joinRegions(module);
    // The offsets of the buffers of routines, each relative to the room for the buffers of all
    // routines.
    llvm::MapVector<Operation *, int64_t> inRoutines;
    SmallVector<int64_t> routineBytes(getMaxEnumValForSpace() + 1);
    for (auto routine : module.getOps<RoutineOp>()) {
      const Liveness own(routine);
      FailureOr<MemoryPlan> plan = planFor(module, own.problem);
      if (failed(plan))
        return signalPassFailure();
      for (auto [op, offset] : llvm::zip_equal(own.owners, plan->offsets))
        inRoutines[op] = offset;
      for (auto [bytes, region] : llvm::zip_equal(routineBytes, plan->regions))
        bytes = std::max(bytes, region.peak);
    }
    const Liveness liveness(module, routineBytes);
    FailureOr<MemoryPlan> plan = planFor(module, liveness.problem);
    if (failed(plan))
      return signalPassFailure();
    Builder builder(&getContext());
    SmallVector<int64_t> routineOffsets(routineBytes.size());
    for (auto [index, op, offset] : llvm::enumerate(liveness.owners, plan->offsets)) {
      IntegerAttr attr = builder.getI64IntegerAttr(offset);
      if (auto buffer = dyn_cast_or_null<BufferOp>(op))
        buffer.setOffsetAttr(attr);
      else if (op)
        cast<PersistentOp>(op).setOffsetAttr(attr);
      else
        routineOffsets[liveness.problem.buffers[index].region] = offset;
    }
    for (auto [op, offset] : inRoutines) {
      auto buffer = cast<BufferOp>(op);
      buffer.setOffset(routineOffsets[int64_t(buffer.getSpace())] + offset);
    }
    record(module, *plan);
    recordUse(module, liveness);
    checkCapacity(module);
  }

private:
  /// Returns a sound plan; failure after an error on `module`.
  static FailureOr<MemoryPlan> planFor(ModuleOp module, const MemoryProblem &problem) {
    llvm::Expected<MemoryPlan> plan = planMemory(problem);
    llvm::Error error = plan ? plan->verify(problem) : plan.takeError();
    if (!error)
      return std::move(*plan);
    module.emitError(dist::stagePrefix(module))
        << "memory plan: " << llvm::toString(std::move(error));
    return failure();
  }

  /// Moves all buffers to the shared space if the program has collectives or messages. Their
  /// buffers and the other buffers need the most memory at different times. Therefore one space
  /// for both needs less memory than two spaces.
  static void joinRegions(ModuleOp module) {
    const bool communicates =
        module
            .walk([](Operation *op) {
              return isStart(op) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted();
    if (!communicates)
      return;
    module.walk([](BufferOp buffer) { buffer.setSpace(Space::shared); });
    module.walk([](FrameOp frame) { frame.setSpace(Space::shared); });
    // A frame that is a persistent buffer, the same one in all runs, stays in its space.
    SymbolTableCollection symbols;
    module.walk([&](RunOp run) {
      auto routine = symbols.lookupNearestSymbolFrom<RoutineOp>(run, run.getRoutineAttr());
      for (auto frame : routine.getBodyBlock().getOps<FrameOp>())
        if (auto own =
                dyn_cast<PersistentOp>(placeOf(run.getFrames()[frame.getNumber()], symbols).root))
          frame.setSpace(own.getSpace());
    });
  }

  static Purpose purposeOf(Operation *buffer) {
    auto attr = buffer->getAttrOfType<PurposeAttr>(ExecDialect::kPurposeAttrName);
    return attr ? attr.getValue() : Purpose::activations;
  }

  /// Records on the module how the memory of a rank is divided among parameters, optimizer state,
  /// gradients, activations and so on. The report and messages show these numbers.
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
    // The change of live bytes at a step: positive for buffers whose lifetime begins at the step,
    // negative for buffers whose lifetime has ended.
    struct Change {
      int64_t gradients = 0, gathered = 0, activations = 0;
      int64_t all() const { return gradients + gathered + activations; }
    };
    std::map<int64_t, Change> changes;
    for (auto [op, buffer] : llvm::zip_equal(liveness.owners, liveness.problem.buffers)) {
      if (isa_and_nonnull<PersistentOp>(op))
        continue;
      auto size = [&](int64_t step) -> int64_t & {
        Change &change = changes[step];
        switch (op ? purposeOf(op) : Purpose::activations) {
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
    int64_t fullest = 0;
    for (auto &[step, change] : changes) {
      now.gradients += change.gradients;
      now.gathered += change.gathered;
      now.activations += change.activations;
      if (now.all() > most.all()) {
        most = now;
        fullest = step;
      }
    }
    SmallVector<Attribute> largest;
    for (LiveTensorAttr tensor : liveness.findLargest(fullest, kNamedTensors))
      largest.push_back(tensor);
    module->setAttr(ExecDialect::kLiveBytesAttrName,
                    LiveBytesAttr::get(&getContext(), liveness.countForwardBytes(),
                                       ArrayAttr::get(&getContext(), largest)));
    int64_t used = state[0] + state[1] + state[2] + data + most.all();
    auto memory = module->getAttrOfType<MemoryAttr>(ExecDialect::kMemoryAttrName);
    // If a buffer is computed in place of an operand, both are counted, so the sum may exceed the
    // peak. The excess is subtracted from the activations.
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
      module.emitRemark(dist::stagePrefix(module))
          << "needs " << exactBytesText(peak) << " a rank; no plan needs less than "
          << exactBytesText(lowerBound);
  }

  void checkCapacity(ModuleOp module) {
    const int64_t peak = module->getAttrOfType<MemoryAttr>(ExecDialect::kMemoryAttrName).getPeak();
    if (capacityBytes == 0 || peak <= capacityBytes)
      return;
    module.emitError(dist::stagePrefix(module))
        << "needs " << exactBytesText(peak) << " a rank, but " << exactBytesText(capacityBytes)
        << " are allowed; " << describeLargest(module);
    signalPassFailure();
  }
};

} // namespace

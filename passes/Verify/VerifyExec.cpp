// Checks the contract of level `exec`.

#include "passes/Verify/Passes.h"

#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/ExecOps.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_VERIFYEXEC
#include "passes/Verify/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;

namespace {

struct VerifyExecPass : dpc::impl::VerifyExecBase<VerifyExecPass> {
  void runOnOperation() override {
    for (dist::RankProgram program : dist::programsOf(getOperation()))
      if (failed(verify(program.module)))
        return signalPassFailure();
  }

private:
  static InFlightDiagnostic violation(Operation *op) { return op->emitError("level 'exec': "); }

  LogicalResult verify(ModuleOp module) {
    calls.clear();
    for (auto entry : module.getOps<EntryOp>())
      if (failed(visit(entry.getBodyBlock())))
        return failure();
    for (auto routine : module.getOps<RoutineOp>())
      if (failed(visit(routine.getBodyBlock())))
        return failure();
    for (auto function : module.getOps<FunctionOp>()) {
      unsigned count = calls.lookup(function.getSymNameAttr());
      if (count != 1)
        return violation(function)
               << "@" << function.getSymName() << " is called " << count << " times, not once";
    }
    if (failed(checkNumbers(module)))
      return failure();
    auto code = module.lookupSymbol<ModuleOp>(ExecDialect::kCodeModuleName);
    if (!code) // printed modules have no code, because the tools remove it before they print
      return success();
    const SymbolTable kernels(module), codes(code);
    for (auto function : module.getOps<FunctionOp>())
      for (auto launch : function.getBodyBlock().getOps<LaunchOp>())
        if (failed(checkCode(launch, kernels, codes)))
          return failure();
    return success();
  }

  static std::string describe(BufferOp buffer) {
    std::string text;
    llvm::raw_string_ostream(text) << buffer.getType() << " at " << buffer.getOffset().value_or(0)
                                   << " of " << stringifySpace(buffer.getSpace());
    return text;
  }

  /// `exec.buffer` ops with the same number mean the same buffer, also in different functions.
  /// Checks that all of them have the same space, offset and type, and that every op has a number.
  static LogicalResult checkNumbers(ModuleOp module) {
    llvm::DenseMap<int64_t, BufferOp> first;
    WalkResult walked = module.walk([&](BufferOp buffer) -> WalkResult {
      if (!buffer.getNumber())
        return violation(buffer) << "has no number";
      auto [known, isNew] = first.try_emplace(*buffer.getNumber(), buffer);
      BufferOp other = known->second;
      if (buffer.getSpace() == other.getSpace() && buffer.getOffset() == other.getOffset() &&
          buffer.getType() == other.getType())
        return success();
      return violation(buffer) << "buffer " << *buffer.getNumber() << " is " << describe(buffer)
                               << " here, and " << describe(other) << " elsewhere";
    });
    return failure(walked.wasInterrupted());
  }

  /// Checks that the code of a launched kernel has a function for each grid, and that grids and
  /// their library calls use only buffers that the launch has.
  LogicalResult checkCode(LaunchOp launch, const SymbolTable &kernels, const SymbolTable &codes) {
    Operation *own = codes.lookup(launch.getKernel());
    if (!own)
      return violation(launch) << "@" << launch.getKernel() << " has no code";
    Operation *kernel = kernels.lookup(launch.getKernel());
    auto grids =
        kernel ? kernel->getAttrOfType<ArrayAttr>(ExecDialect::kLaunchesAttrName) : nullptr;
    if (!grids)
      return success();
    for (GridAttr grid : grids.getAsRange<GridAttr>()) {
      std::string entry = (launch.getKernel() + grid.getEntry()).str();
      if (!SymbolTable::lookupSymbolIn(own, entry))
        return violation(launch) << "@" << entry << " has no code";
      SmallVector<int64_t> buffers(grid.getBuffers().asArrayRef());
      if (CallAttr call = grid.getCall())
        for (const CallBuffer &buffer : call.getBuffers())
          buffers.push_back(buffer.buffer);
      for (int64_t buffer : buffers)
        if (buffer >= launch->getNumOperands())
          return violation(launch) << "@" << entry << " takes buffer " << buffer << " of "
                                   << launch->getNumOperands();
    }
    return success();
  }

  LogicalResult visit(Block &block) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<LoopOp>(op)) {
        if (failed(visit(loop.getBodyBlock())))
          return failure();
      } else if (auto compute = dyn_cast<ComputeOp>(op)) {
        ++calls[compute.getCalleeAttr().getAttr()];
      } else if (!isa<WaitOp, ZeroOp, RunOp>(op) && !namesMemory(&op) && !isStart(&op)) {
        return violation(&op) << "'" << op.getName() << "' is no action";
      }
    }
    return success();
  }

  llvm::DenseMap<StringAttr, unsigned> calls;
};

} // namespace

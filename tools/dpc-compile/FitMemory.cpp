// Looks for the least recomputation under which a program fits into a rank's memory.

#include "tools/dpc-compile/FitMemory.h"

#include "dialects/Exec/IR/ExecDialect.h"
#include "passes/Memory/LargestTensors.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dpc;

static LogicalResult schedule(ModuleOp module, const CompileOptions &options) {
  PassManager manager(module.getContext());
  buildScheduledPipeline(manager, options.scheduled);
  return manager.run(module);
}

LogicalResult dpc::scheduleToFit(OwningOpRef<ModuleOp> &module, CompileOptions &options) {
  const int64_t capacity = options.scheduled.capacityBytes;
  if (!options.fitsMemory || capacity == 0 || !module->lookupSymbol("step"))
    return schedule(*module, options);
  // What a plan saves is an estimate: what is missing then is asked for as well, and at
  // last all there is.
  const int64_t all = -1;
  const int attempts = 4;
  int64_t saved = 0, without = 0, peak = 0;
  std::string largest;
  options.scheduled.capacityBytes = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    options.scheduled.rematBytes = attempt + 1 == attempts ? all : saved;
    OwningOpRef<ModuleOp> trial = module->clone();
    if (failed(schedule(*trial, options)))
      return failure();
    peak = (*trial)->getAttrOfType<exec::MemoryAttr>(exec::ExecDialect::kMemoryAttrName).getPeak();
    largest = describeLargest(*trial);
    if (attempt == 0)
      without = peak;
    if (peak <= capacity) {
      module = std::move(trial);
      if (attempt > 0)
        llvm::errs() << "dpc-compile: note: needs " << peak << " bytes a rank, of " << capacity
                     << " allowed, as parts of the forward pass are computed again; " << without
                     << " without (--remat=none)\n";
      return success();
    }
    saved += peak - capacity;
  }
  llvm::errs() << "dpc-compile: error: --device-memory: needs " << peak
               << " bytes a rank with all of the forward pass computed again, and " << without
               << " without, but " << capacity
               << " are allowed; state of many ranks takes less with --zero=3, activations with "
                  "--microbatches or more ranks; "
               << largest << "\n";
  return failure();
}

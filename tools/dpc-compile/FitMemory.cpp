// Looks for the cheapest way in which a program fits into a rank's memory.

#include "tools/dpc-compile/FitMemory.h"

#include "dialects/Dist/IR/PlanAttr.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "passes/Memory/LargestTensors.h"
#include "planning/SizeText.h"
#include "tools/common/NamePasses.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace dpc;
using exec::ExecDialect;

/// Takes `module` from level `local` to `scheduled` by the plan of `options`.
static LogicalResult schedule(ModuleOp module, const CompileOptions &options) {
  dist::setPlan(module, options.plan);
  PassManager manager(module.getContext());
  manager.addInstrumentation(std::make_unique<NamePasses>());
  buildScheduledPipeline(manager, options.scheduled);
  return manager.run(module);
}

namespace {

/// How state is divided, in the terms of the command line.
struct Division {
  ZeroStage stage;
  std::vector<std::string> axes;
  int64_t bucketBytes;
  /// Options that ask for the same; empty for the program as it is asked for.
  std::string flags;
};

/// What one way takes.
struct Need {
  int64_t peak = std::numeric_limits<int64_t>::max();
  /// Of it, what lives as long as the program.
  int64_t state = 0;
  std::string largest;
  std::string how;
};

class MemoryFit {
public:
  MemoryFit(OwningOpRef<ModuleOp> &module, CompileOptions &options)
      : module(module), options(options), capacity(options.plan.deviceBytes),
        explains(options.scheduled.explain) {
    options.plan.deviceBytes = 0;
  }

  LogicalResult run() {
    const std::vector<Division> divisions = listDivisions();
    for (const Division &division : divisions) {
      options.plan.zero.stage = division.stage;
      options.plan.zero.axes = division.axes;
      options.plan.buckets.later = division.bucketBytes;
      const bool isLast = &division == &divisions.back();
      Outcome outcome = tryOnce(division, /*saved=*/0);
      // To divide costs less than to compute again; and where state alone takes too much
      // there is nothing to be had from the forward pass.
      const bool mayRecompute =
          options.mayRecompute && trains() &&
          (isLast || (&division != &divisions.front() && last.state <= capacity));
      if (outcome == Outcome::tooLarge && mayRecompute)
        outcome = tryRecomputing(division, isLast);
      if (outcome != Outcome::tooLarge) {
        options.plan.deviceBytes = capacity;
        return success(outcome == Outcome::fits);
      }
    }
    refuse();
    return failure();
  }

private:
  /// `failed`: a pass said why.
  enum class Outcome { fits, tooLarge, failed };

  bool trains() const { return module->lookupSymbol("step") != nullptr; }

  /// As it is asked for, and then with less and less that every rank holds. Buckets are what
  /// ranks hold twice: of a small memory they may take a small part only.
  std::vector<Division> listDivisions() const {
    const ProgramPlan &plan = options.plan;
    const Division asked = {plan.zero.stage, plan.zero.axes, plan.buckets.later, ""};
    std::vector<Division> found = {asked};
    const int64_t mebibyte = 1 << 20;
    const int64_t bucket = std::max(capacity / 32 / mebibyte, int64_t(1));
    const bool isWhole = options.axesToDivide.empty();
    Division next = asked;
    if (options.mayShrinkBuckets && bucket * mebibyte < asked.bucketBytes &&
        !(isWhole && asked.axes.empty())) {
      next.bucketBytes = bucket * mebibyte;
      next.flags = "--bucket-mib=" + std::to_string(bucket);
    }
    if (isWhole) {
      if (!next.flags.empty())
        found.push_back(next);
      return found;
    }
    for (ZeroStage stage : {ZeroStage::gradients, ZeroStage::parameters})
      if (trains() || stage == ZeroStage::parameters)
        found.push_back({stage, options.axesToDivide, next.bucketBytes,
                         "--zero=" + std::to_string(static_cast<int64_t>(stage)) +
                             (next.flags.empty() ? "" : " " + next.flags)});
    return found;
  }

  /// What a plan saves is an estimate: what is missing then is asked for as well, and under
  /// the last division all there is.
  Outcome tryRecomputing(const Division &division, bool isLast) {
    const int64_t missing = last.peak - capacity;
    Outcome outcome = tryOnce(division, missing);
    if (outcome != Outcome::tooLarge)
      return outcome;
    const int64_t before = last.peak;
    outcome = tryOnce(division, missing + before - capacity);
    // Where more was asked for and nothing changed, that was all there is.
    if (outcome == Outcome::tooLarge && isLast && last.peak != before)
      outcome = tryOnce(division, RematChoice::all);
    return outcome;
  }

  /// Where the program fits it is in `module` afterwards.
  Outcome tryOnce(const Division &division, int64_t saved) {
    if (options.mayRecompute)
      options.plan.remat.savedBytes = saved;
    OwningOpRef<ModuleOp> trial = module->clone();
    options.scheduled.explain = false;
    if (failed(schedule(*trial, options)))
      return Outcome::failed;
    auto use = (*trial)->getAttrOfType<exec::MemoryUseAttr>(ExecDialect::kMemoryUseAttrName);
    last.peak = (*trial)->getAttrOfType<exec::MemoryAttr>(ExecDialect::kMemoryAttrName).getPeak();
    last.state = use.getParameters() + use.getOptimizer() + use.getBuffers() + use.getData();
    last.how = division.flags;
    if (saved != 0)
      last.how +=
          (last.how.empty() ? "" : " and ") +
          std::string(saved == RematChoice::all ? "all of the forward pass that saves memory"
                                                : "parts of the forward pass") +
          " computed again";
    if (!asAsked)
      asAsked = last.peak;
    if (last.peak > capacity) {
      last.largest = describeLargest(*trial);
      if (last.peak < least.peak)
        least = last;
      return Outcome::tooLarge;
    }
    // What is said of the program is said of this one alone.
    options.scheduled.explain = explains;
    if (explains) {
      if (failed(schedule(*module, options)))
        return Outcome::failed;
    } else {
      module = std::move(trial);
    }
    if (!last.how.empty())
      llvm::errs() << "dpc-compile: note: needs " << exactBytesText(last.peak) << " a rank, of "
                   << exactBytesText(capacity) << " allowed, with " << last.how << "; "
                   << exactBytesText(*asAsked) << " without\n";
    return Outcome::fits;
  }

  void refuse() const {
    llvm::errs() << "dpc-compile: error: --device-memory: needs " << exactBytesText(least.peak)
                 << " a rank";
    if (!least.how.empty())
      llvm::errs() << " with " << least.how << ", and " << exactBytesText(*asAsked) << " without";
    llvm::errs() << ", but " << exactBytesText(capacity) << " are allowed; ";
    if (options.plan.zero.stage != ZeroStage::parameters)
      llvm::errs() << "state of many ranks takes less with --zero=3, ";
    llvm::errs() << "activations with --microbatches or more ranks; " << least.largest << "\n";
  }

  OwningOpRef<ModuleOp> &module;
  CompileOptions &options;
  const int64_t capacity;
  const bool explains;
  Need last, least;
  std::optional<int64_t> asAsked;
};

} // namespace

LogicalResult dpc::scheduleToFit(OwningOpRef<ModuleOp> &module, CompileOptions &options) {
  if (options.plan.deviceBytes == 0)
    return schedule(*module, options);
  return MemoryFit(module, options).run();
}

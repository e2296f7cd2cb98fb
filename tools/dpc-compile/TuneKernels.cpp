// Compiles the kernels of a program, and measures those that no earlier compile measured.

#include "tools/dpc-compile/TuneKernels.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dialects/NN/Bounds/Bounds.h"
#include "targets/Objects/KernelTimer.h"
#include "targets/Objects/ObjectCache.h"
#include "tools/common/CommandLine.h"
#include "tools/dpc-compile/WriteProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Host.h"

#include <limits>
#include <thread>

using namespace mlir;
using namespace dpc;

/// How many times each kernel is measured. A program has some hundred kernels.
static constexpr unsigned kRounds = 2;

/// Copies the code of all kernels, which compileKernels lowers in place.
static OwningOpRef<ModuleOp> copyKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> all = ModuleOp::create(module.getLoc());
  for (dist::RankProgram program : dist::programsOf(module))
    if (auto code = program.module.lookupSymbol<ModuleOp>(exec::ExecDialect::kCodeModuleName))
      for (Operation &kernel : *code.getBody())
        all->getBody()->push_back(kernel.clone());
  return all;
}

static void addBuffers(TypeRange types, TimedKernel &kernel) {
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      kernel.buffers.push_back({tensor.getElementType(), tensor.getNumElements()});
}

/// Sets the limits of the operands by which the kernel of `function` reads rows of tables. If all
/// of them were row 0, the rows would lie in the caches.
static void setLimits(func::FuncOp function, TimedKernel &kernel) {
  kernel.limits.resize(kernel.buffers.size());
  if (function.isExternal())
    return;
  for (Operation &op : function.front().without_terminator()) {
    if (op.getNumRegions() != 1 || op.getRegion(0).empty())
      continue;
    Block &body = op.getRegion(0).front();
    const llvm::DenseMap<Value, nn::ElementBounds> bounds = nn::findRequiredBounds(body);
    for (auto [operand, argument] : llvm::zip(op.getOperands(), body.getArguments()))
      if (auto known = bounds.find(argument); known != bounds.end())
        if (auto outer = dyn_cast<BlockArgument>(operand)) {
          const nn::IntegerBounds all = known->second.everywhere();
          if (all.low <= 0 && all.high < std::numeric_limits<int64_t>::max())
            kernel.limits[outer.getArgNumber()] = std::max<int64_t>(all.high + 1, 0);
        }
  }
}

/// The key of a kernel's time in the cache. The time depends on the processor, too.
static std::string keyOf(StringRef symbol, unsigned threads) {
  return ObjectCache::keyOf(llvm::formatv("median time of {0} with any rows on {1}, {2} at a time",
                                          symbol, llvm::sys::getHostCPUName(), threads)
                                .str());
}

int dpc::tuneKernels(ModuleOp module, const CompileOptions &options, KernelSeconds &seconds) {
  int code;
  std::optional<ObjectCache> cache = openCache(options, code);
  if (code)
    return code;
  OwningOpRef<ModuleOp> kernels = copyKernels(module);
  FailureOr<std::vector<KernelObject>> objects =
      compileKernels(*kernels, options, cache ? &*cache : nullptr);
  if (failed(objects))
    return exitInvalid;
  llvm::StringMap<const KernelObject *> objectOf;
  for (const KernelObject &object : *objects)
    objectOf[object.kernel] = &object;

  // As many ranks as the host has cores run at the same time.
  const auto ranks = uint64_t(dist::getMeshShape(module).worldSize());
  const unsigned threads =
      std::min<uint64_t>(ranks, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<TimedKernel> unknown;
  llvm::StringMap<double> known; // by symbol
  for (dist::RankProgram program : dist::programsOf(module))
    for (auto function : program.module.getOps<func::FuncOp>()) {
      const KernelObject *object = objectOf.lookup(function.getSymName());
      if (!object || !known.try_emplace(object->symbol, 0).second)
        continue;
      double kept = 0;
      if (cache)
        if (std::optional<std::string> text = cache->lookup(keyOf(object->symbol, threads)))
          StringRef(*text).getAsDouble(kept);
      known[object->symbol] = kept;
      if (kept > 0)
        continue;
      TimedKernel kernel;
      kernel.object = object;
      addBuffers(function.getArgumentTypes(), kernel);
      addBuffers(function.getResultTypes(), kernel);
      setLimits(function, kernel);
      if (auto bytes =
              function->getAttrOfType<IntegerAttr>(exec::ExecDialect::kScratchBytesAttrName))
        kernel.scratchBytes = bytes.getInt();
      unknown.push_back(std::move(kernel));
    }
  llvm::Expected<std::vector<double>> measured = timeKernels(unknown, threads, kRounds);
  if (!measured) {
    llvm::errs() << "dpc-compile: error: --tune: " << llvm::toString(measured.takeError()) << "\n";
    return exitInvalid;
  }
  for (auto [kernel, time] : llvm::zip_equal(unknown, *measured)) {
    // The number that the next compile reads, so that both compiles foresee the same step.
    const std::string text = llvm::formatv("{0:e6}", time).str();
    StringRef(text).getAsDouble(known[kernel.object->symbol]);
    if (cache)
      cache->store(keyOf(kernel.object->symbol, threads), text);
  }
  for (const KernelObject &object : *objects)
    seconds[object.kernel] = known.lookup(object.symbol);
  if (cache)
    cache->prune();
  return exitDone;
}

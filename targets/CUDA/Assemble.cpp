// Runs NVIDIA's assembler on all cores.

#include "targets/CUDA/Assemble.h"

#include "processes/ChildProcess.h"
#include "targets/Objects/ObjectCache.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dpc;

namespace {
/// One run of the assembler: the PTX of one kernel for one processor.
struct Job {
  const KernelObject *object;
  StringRef processor;
  std::string code, error;
};
} // namespace

/// The contents of a file; null if it cannot be read.
static std::optional<std::string> readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? std::optional<std::string>((*buffer)->getBuffer()) : std::nullopt;
}

/// The text in which the assembler prints its version. It is part of the cache
/// key.
static std::string versionOf(StringRef assembler) {
  SmallString<128> log;
  if (llvm::sys::fs::createTemporaryFile("dpc-ptxas", "log", log))
    return "";
  auto remove = llvm::make_scope_exit([&] { llvm::sys::fs::remove(log); });
  runChild({assembler.str(), "--version"}, log.str().str());
  return readFile(log).value_or("");
}

static std::string firstLine(StringRef text) { return text.ltrim().split('\n').first.str(); }

static void run(Job &job, StringRef assembler) {
  SmallString<128> source, code, log;
  auto remove = llvm::make_scope_exit([&] {
    for (const SmallString<128> &file : {source, code, log})
      if (!file.empty())
        llvm::sys::fs::remove(file);
  });
  std::error_code error = llvm::sys::fs::createTemporaryFile("dpc-kernel", "ptx", source);
  if (!error)
    error = llvm::sys::fs::createTemporaryFile("dpc-kernel", "cubin", code);
  if (!error)
    error = llvm::sys::fs::createTemporaryFile("dpc-kernel", "log", log);
  if (!error) {
    llvm::raw_fd_ostream stream(source, error);
    stream << job.object->object;
    stream.close();
    if (stream.has_error()) {
      error = stream.error();
      stream.clear_error();
    }
  }
  if (error) {
    job.error = "temporary file: " + error.message();
    return;
  }
  const int status = runChild({assembler.str(), ("-arch=" + job.processor).str(), "-o",
                               code.str().str(), source.str().str()},
                              log.str().str());
  std::optional<std::string> made = readFile(code);
  if (status != 0 || !made || made->empty()) {
    std::string said = firstLine(readFile(log).value_or(""));
    job.error = !said.empty() ? said : status < 0 ? "it was killed" : "it made nothing";
    return;
  }
  job.code = std::move(*made);
}

LogicalResult dpc::assemble(ModuleOp kernels, std::vector<KernelObject> &objects,
                            StringRef assembler, ArrayRef<std::string> processors,
                            const ObjectCache *cache) {
  const std::string version = versionOf(assembler);
  // Kernels with equal code have equal symbols; assemble each code once.
  llvm::StringMap<const KernelObject *> different;
  for (const KernelObject &object : objects)
    different.try_emplace(object.symbol, &object);
  std::vector<Job> jobs;
  for (const auto &entry : different)
    for (StringRef processor : processors)
      jobs.push_back({entry.second, processor, "", ""});
  llvm::stable_sort(jobs, [](const Job &a, const Job &b) {
    return a.object->object.size() > b.object->object.size();
  });
  parallelForEach(kernels.getContext(), jobs, [&](Job &job) {
    const std::string key = ObjectCache::keyOf(
        (version + job.processor + StringRef("\0", 1) + job.object->object).str());
    if (std::optional<std::string> known = cache ? cache->lookup(key) : std::nullopt) {
      job.code = std::move(*known);
      return;
    }
    run(job, assembler);
    if (cache && job.error.empty())
      cache->store(key, job.code);
  });
  llvm::StringMap<std::vector<MachineCode>> made;
  for (StringRef processor : processors)
    for (Job &job : jobs) {
      if (job.processor != processor)
        continue;
      if (!job.error.empty()) {
        Operation *kernel = kernels.lookupSymbol(job.object->kernel);
        return (kernel ? kernel : kernels)->emitError("kernel ")
               << job.object->kernel << ": " << assembler << " for " << processor << ": "
               << job.error;
      }
      made[job.object->symbol].push_back({processor.str(), std::move(job.code)});
    }
  for (KernelObject &object : objects)
    object.machineCode = made[object.symbol];
  return success();
}

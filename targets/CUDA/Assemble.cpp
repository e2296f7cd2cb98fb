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

/// The first line of the log `text` that is no information about resources.
static std::string firstMessage(StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (!line.trim().empty() && !line.starts_with("ptxas info"))
      return line.trim().str();
    text = rest;
  }
  return "";
}

namespace {
/// What a run of the assembler made: machine code, or an error. The log has the resources of each
/// kernel.
struct Assembled {
  std::string code, log, error;
};
} // namespace

/// Assembles `ptx` for `processor`.
static Assembled assembleText(StringRef ptx, StringRef processor, StringRef assembler) {
  Assembled made;
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
    stream << ptx;
    stream.close();
    if (stream.has_error()) {
      error = stream.error();
      stream.clear_error();
    }
  }
  if (error) {
    made.error = "temporary file: " + error.message();
    return made;
  }
  const int status = runChild({assembler.str(), ("-arch=" + processor).str(), "-o",
                               code.str().str(), source.str().str(), "-v"},
                              log.str().str());
  made.log = readFile(log).value_or("");
  made.code = readFile(code).value_or("");
  if (status != 0 || made.code.empty()) {
    std::string said = firstMessage(made.log);
    made.error = !said.empty() ? said : status < 0 ? "it was killed" : "it made nothing";
  }
  return made;
}

/// The bytes that each kernel spills, by its name, according to the assembler's log.
static llvm::StringMap<int64_t> spillsOf(StringRef log) {
  llvm::StringMap<int64_t> spills;
  StringRef kernel;
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    if (auto [before, name] = line.split("Function properties for "); !name.empty())
      kernel = name.trim();
    int64_t bytes = 0;
    StringRef stores = line.split(" bytes spill stores").first;
    if (stores != line && !stores.rsplit(' ').second.getAsInteger(10, bytes) && bytes > 0)
      spills[kernel] += bytes;
  }
  return spills;
}

static int64_t totalOf(const llvm::StringMap<int64_t> &spills) {
  int64_t total = 0;
  for (const auto &entry : spills)
    total += entry.second;
  return total;
}

/// Lets the kernels in `ptx` whose names `spills` has use all registers of a block that is alone on
/// a multiprocessor.
static std::string withoutOccupancy(StringRef ptx, const llvm::StringMap<int64_t> &spills) {
  std::string relaxed;
  bool isSpilling = false;
  while (!ptx.empty()) {
    auto [line, rest] = ptx.split('\n');
    if (auto [before, entry] = line.split(".entry "); !entry.empty())
      isSpilling = spills.contains(entry.take_until([](char c) { return c == '('; }).trim());
    relaxed += (line + "\n").str();
    if (isSpilling && line.starts_with(".maxntid") && !rest.starts_with(".minnctapersm"))
      relaxed += ".minnctapersm 1\n";
    ptx = rest;
  }
  return relaxed;
}

/// Assembles one kernel. To have more threads on a multiprocessor, the assembler may choose fewer
/// registers than a kernel needs, and spill. Such a kernel is assembled again without this aim.
static void run(Job &job, StringRef assembler) {
  const std::string &ptx = job.object->object;
  Assembled made = assembleText(ptx, job.processor, assembler);
  job.error = made.error;
  job.code = std::move(made.code);
  const llvm::StringMap<int64_t> spills = spillsOf(made.log);
  if (!job.error.empty() || spills.empty())
    return;
  const std::string relaxed = withoutOccupancy(ptx, spills);
  if (relaxed == ptx)
    return;
  Assembled other = assembleText(relaxed, job.processor, assembler);
  if (other.error.empty() && totalOf(spillsOf(other.log)) < totalOf(spills))
    job.code = std::move(other.code);
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

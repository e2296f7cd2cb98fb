// Writes the code of the kernels and the list of launches for --save-kernels.

#include "tools/dpc-compile/SaveKernels.h"

#include "passes/Play/ExecPlay.h"
#include "record/LaunchLines.h"
#include "tools/common/CommandLine.h"
#include "tools/dpc-compile/WriteProgram.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace dpc;

constexpr llvm::StringLiteral kLaunchesName = "launches.jsonl";

static int failToSave(const Twine &message) {
  llvm::errs() << "dpc-compile: error: --save-kernels: " << message << "\n";
  return exitIO;
}

int SavedKernels::create(StringRef folder) {
  SmallString<128> path(folder);
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/false);
  while (path.size() > 1 && path.ends_with("/"))
    path.pop_back();
  place = path.empty() ? "." : path.str().str();
  if (llvm::sys::fs::exists(place) && !llvm::sys::fs::is_directory(place))
    return failToSave(place + ": not a folder");
  if (std::error_code error =
          temporary.create(llvm::sys::path::parent_path(place), ".dpc-compile-"))
    return failToSave(place + ": " + error.message());
  return exitDone;
}

/// Returns the estimates of all entries, as --explain shows them.
static FailureOr<KernelEstimates> estimateKernels(ModuleOp program, FactorForm factors) {
  KernelEstimates estimates;
  for (StringRef entry : {"step", "eval", "infer"}) {
    PlayInputs inputs;
    inputs.factors = factors;
    FailureOr<std::optional<ExecPlay>> play = playOf(program, entry, inputs);
    if (failed(play))
      return failure();
    if (!*play)
      continue;
    for (const PlayedFunction &function : (*play)->functions) {
      std::vector<KernelEstimate> &own = estimates[function.name];
      own.clear();
      for (const PlayedKernel &kernel : function.kernels)
        own.push_back({kernel.kind, kernel.flops, kernel.bytes, kernel.seconds});
    }
  }
  return estimates;
}

int SavedKernels::write(ModuleOp program, ModuleOp kernels, ArrayRef<KernelObject> objects,
                        FactorForm factors) {
  auto writeNamed = [&](const std::string &name, StringRef content) {
    names.push_back(name);
    return writeFile(temporary.file(name), [&](llvm::raw_fd_ostream &stream) {
      stream << content;
      return true;
    });
  };
  llvm::StringSet<> symbols;
  for (const KernelObject &object : objects) {
    if (!symbols.insert(object.symbol).second)
      continue;
    if (int code = writeNamed(object.symbol + ".ptx", object.object))
      return code;
    for (const MachineCode &code : object.machineCode)
      if (int failed = writeNamed(object.symbol + "." + code.processor + ".cubin", code.bytes))
        return failed;
  }
  FailureOr<KernelEstimates> estimates = estimateKernels(program, factors);
  if (failed(estimates))
    return exitInvalid;
  names.push_back(kLaunchesName.str());
  return writeFile(temporary.file(kLaunchesName), [&](llvm::raw_fd_ostream &stream) {
    writeLaunchLines(program, kernels, objects, factors, *estimates, stream);
    return true;
  });
}

int SavedKernels::prepare(SmallVectorImpl<std::pair<std::string, std::string>> &moves) {
  if (std::error_code error = llvm::sys::fs::create_directory(place))
    return failToSave(place + ": " + error.message());
  std::error_code error;
  std::vector<std::string> old;
  for (llvm::sys::fs::directory_iterator it(place, error), end; it != end && !error;
       it.increment(error)) {
    StringRef name = llvm::sys::path::filename(it->path());
    const bool isCode = name.ends_with(".ptx") || name.ends_with(".cubin");
    if (name == kLaunchesName || (name.starts_with("dpc_kernel_") && isCode))
      old.push_back(it->path());
  }
  for (const std::string &path : old)
    if (!error)
      error = llvm::sys::fs::remove(path);
  if (error)
    return failToSave(place + ": " + error.message());
  for (const std::string &name : names) {
    SmallString<128> to(place);
    llvm::sys::path::append(to, name);
    moves.push_back({temporary.file(name), to.str().str()});
  }
  return exitDone;
}

// Writes the program of a module at level `exec`: its object files, the linked program, and a
// file with its initial values if they are not embedded.

#include "tools/dpc-compile/WriteProgram.h"

#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/NN/IR/Program.h"
#include "dpc/program.h"
#include "dpc/safetensors.h"
#include "frontends/onnx/Model/SaveTemplate.h"
#include "record/EmitProgram.h"
#include "record/InitialValue.h"
#include "record/LaunchTable.h"
#include "record/LoadRecord.h"
#include "record/Tensors.h"
#include "record/WriteObject.h"
#include "runtime/src/plan/PlanCheck.h"
#include "targets/Objects/ObjectCache.h"
#include "targets/Target.h"
#include "tools/common/CommandLine.h"
#include "tools/dpc-compile/SaveKernels.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <sys/resource.h>

using namespace mlir;
using namespace dpc;

/// The most bytes that the cache of compiled kernels may take.
constexpr uint64_t kMaxCacheBytes = uint64_t(1) << 30;

static int fail(const Twine &message, int code) {
  llvm::errs() << "dpc-compile: error: " << message << "\n";
  return code;
}

int dpc::writeFile(const std::string &path,
                   llvm::function_ref<bool(llvm::raw_fd_ostream &)> write) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code)
    return fail(path + ": " + code.message(), exitIO);
  if (!write(stream)) {
    stream.clear_error();
    return exitInvalid;
  }
  stream.flush();
  if (!stream.has_error())
    return exitDone;
  std::string message = stream.error().message();
  stream.clear_error();
  return fail(path + ": " + message, exitIO);
}

/// Returns the DPC_ISA_* constant for the host instructions that code for --target and --cpu
/// needs.
static unsigned isaOf(const PlacedOptions &machine) {
  CodeOptions code;
  code.processor = machine.processor;
  switch (findTarget(machine.target)->getHostLevel(code)) {
  case HostLevel::any:
    return DPC_ISA_BASELINE;
  case HostLevel::v3:
    return DPC_ISA_AVX2;
  case HostLevel::v4:
    return DPC_ISA_AVX512;
  case HostLevel::v4Bf16:
    return DPC_ISA_AVX512_BF16;
  }
  llvm_unreachable("a level that has no name");
}

/// The runtime's constant (DPC_F32, ..) for the type of elements in an ONNX file.
static uint32_t dtypeOf(onnx::ElementType type) {
  switch (type) {
  case onnx::ElementType::F32:
    return DPC_F32;
  case onnx::ElementType::U8:
    return DPC_U8;
  case onnx::ElementType::I8:
    return DPC_I8;
  case onnx::ElementType::U16:
    return DPC_U16;
  case onnx::ElementType::I16:
    return DPC_I16;
  case onnx::ElementType::I32:
    return DPC_I32;
  case onnx::ElementType::I64:
    return DPC_I64;
  case onnx::ElementType::Bool:
    return DPC_BOOL;
  case onnx::ElementType::F16:
    return DPC_F16;
  case onnx::ElementType::F64:
    return DPC_F64;
  case onnx::ElementType::U32:
    return DPC_U32;
  case onnx::ElementType::U64:
    return DPC_U64;
  case onnx::ElementType::BF16:
    return DPC_BF16;
  }
  return DPC_DTYPE_INVALID;
}

/// Adds the template that --save-onnx fills: the ONNX model with a hole for each tensor of state.
/// If the model is too large for one ONNX file, the program gets no template, but only the size
/// that the file would have.
static llvm::Error addTemplate(ModuleOp module, onnx::OnnxModel &source, const onnx::SpecPlan &plan,
                               ProgramOptions &program) {
  llvm::StringSet<> states;
  for (dist::RankProgram each : dist::programsOf(module))
    for (auto persistent : each.module.getOps<exec::PersistentOp>())
      for (nn::ArgAttr arg : exec::getBoundArgs(persistent))
        if (arg.getKind() != nn::ArgKind::input && arg.getKind() != nn::ArgKind::label &&
            arg.getKind() != nn::ArgKind::control)
          states.insert(arg.getName());
  llvm::Expected<onnx::SaveTemplate> model =
      onnx::buildSaveTemplate(source, [&](StringRef name) { return states.contains(name); }, plan);
  if (!model)
    return model.takeError();
  program.onnxBytes = model->fileBytes;
  if (model->fileBytes > onnx::kMaxModelBytes)
    return llvm::Error::success();
  program.onnxTemplate = std::move(model->bytes);
  for (const onnx::TemplateHole &hole : model->holes)
    program.onnxPatches.push_back({hole.name, hole.offset, hole.bytes, dtypeOf(hole.type)});
  return llvm::Error::success();
}

std::optional<ObjectCache> dpc::openCache(const CompileOptions &options, int &code) {
  code = exitDone;
  if (options.cacheFolder.empty())
    return std::nullopt;
  llvm::Expected<ObjectCache> cache = ObjectCache::open(options.cacheFolder, kMaxCacheBytes);
  if (cache)
    return std::move(*cache);
  std::string why = llvm::toString(cache.takeError());
  // Without --cache the folder is only a default, so a compile continues without a cache.
  if (options.needsCache)
    code = fail("--cache: " + why, exitIO);
  else if (options.explain == Explain::all)
    llvm::errs() << "dpc-compile: note: " << why << "\n";
  return std::nullopt;
}

/// Moves the code of the kernels of all stages out of `module`.
static OwningOpRef<ModuleOp> takeKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> all;
  for (dist::RankProgram program : dist::programsOf(module)) {
    auto kernels = program.module.lookupSymbol<ModuleOp>(exec::ExecDialect::kCodeModuleName);
    kernels->remove();
    OwningOpRef<ModuleOp> owned = kernels;
    if (!all)
      all = std::move(owned);
    else
      all->getBody()->getOperations().splice(all->getBody()->end(),
                                             kernels.getBody()->getOperations());
  }
  return all;
}

FailureOr<std::vector<KernelObject>>
dpc::compileKernels(ModuleOp kernels, const CompileOptions &options, const ObjectCache *cache) {
  CodeOptions native;
  native.processor = options.placed.processor;
  native.assembler = options.assembler;
  native.assembled = options.assembled;
  // Use threads only if the address space has no limit, because the heap of each thread reserves
  // hundreds of MiB of addresses.
  struct rlimit addresses;
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur == RLIM_INFINITY)
    kernels.getContext()->enableMultithreading();
  return findTarget(options.placed.target)->compileKernels(kernels, native, cache);
}

/// Compiles the kernels of `module` into one archive, and renames the calls in
/// `record` to the symbols of the archive. Equal kernels share one symbol. For a
/// target with grids, the archive is empty and `record` gets the code as data.
/// If `saved` is not null, writes the code there too.
static int writeKernels(ModuleOp module, const CompileOptions &options, llvm::Module &record,
                        StringRef archive, SavedKernels *saved) {
  int code;
  std::optional<ObjectCache> cache = openCache(options, code);
  if (code)
    return code;
  OwningOpRef<ModuleOp> owned = takeKernels(module);
  FailureOr<std::vector<KernelObject>> objects =
      compileKernels(*owned, options, cache ? &*cache : nullptr);
  if (failed(objects))
    return exitInvalid;
  if (saved)
    if (int failed = saved->write(module, *owned, *objects, options.plan.kernels.factors))
      return failed;
  const bool isGrids =
      findTarget(options.placed.target)->getFunctionForm() == FunctionForm::gridTable;
  std::vector<llvm::NewArchiveMember> members;
  llvm::StringSet<> symbols;
  for (const KernelObject &object : *objects) {
    // A profiler shows the symbol. With this note the user finds the kernel.
    if (options.explain == Explain::all)
      llvm::errs() << "dpc-compile: note: kernel " << object.kernel << " is function "
                   << object.symbol << "\n";
    if (isGrids)
      continue;
    if (llvm::Function *called = record.getFunction(object.kernel)) {
      llvm::Function *known = record.getFunction(object.symbol);
      if (known)
        called->replaceAllUsesWith(known);
      else
        called->setName(object.symbol);
    }
    if (symbols.insert(object.symbol).second)
      members.emplace_back(llvm::MemoryBufferRef(object.object, object.symbol));
  }
  if (isGrids)
    defineGrids(record, *objects, options.placed.processor);
  auto content = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab,
                                            llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                            /*Thin=*/false);
  if (!content)
    return fail(archive + ": " + llvm::toString(content.takeError()), exitInvalid);
  return writeFile(archive.str(), [&](llvm::raw_fd_ostream &stream) {
    stream << (*content)->getBuffer();
    return true;
  });
}

/// Loads the program record from the file `object`, as the runtime would load it, and checks its
/// plan.
static int proveRecord(const std::string &object, const CompileOptions &options) {
  auto buffer = llvm::MemoryBuffer::getFile(object, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(object + ": " + buffer.getError().message(), exitIO);
  auto record = LoadedRecord::load(**buffer);
  if (!record)
    return fail("the program record: " + llvm::toString(record.takeError()), exitInvalid);
  PlanSummary summary;
  if (dpc::checkPlan((*record)->getProgram(), &summary))
    return fail(dpc_last_error(), exitInvalid);
  if (options.explain == Explain::all)
    llvm::errs() << "dpc-compile: note: " << describePlan(summary) << "\n";
  return exitDone;
}

/// Generates the objects of record, kernels and initial values, and links them into `output`.
static int writeExecutable(ModuleOp module, const CompileOptions &options,
                           const ProgramOptions &program, StringRef output, SavedKernels *saved,
                           const char *argv0) {
  llvm::LLVMContext context;
  std::vector<OutsideValue> values;
  std::unique_ptr<llvm::Module> record = emitProgram(module, program, context, &values);
  if (!record)
    return exitInvalid;
  WorkFolder temporaries;
  SmallString<64> folder;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  if (std::error_code error = temporaries.create(folder, "dpc-compile-"))
    return fail(folder + ": cannot make a temporary folder: " + error.message(), exitIO);
  std::string object = temporaries.file("record.o"), initial = temporaries.file("values.o"),
              archive = temporaries.file("kernels.a");
  if (int code = writeKernels(module, options, *record, archive, saved))
    return code;
  auto isWritten = [](llvm::Error error) {
    if (!error)
      return true;
    fail(llvm::toString(std::move(error)), exitInvalid);
    return false;
  };
  if (int code = writeFile(object, [&](llvm::raw_fd_ostream &stream) {
        return isWritten(writeObject(*record, stream));
      }))
    return code;
  if (options.exec.verify)
    if (int code = proveRecord(object, options))
      return code;
  if (int code = writeFile(initial, [&](llvm::raw_fd_ostream &stream) {
        return isWritten(writeValuesObject(values, record->getTargetTriple(), stream));
      }))
    return code;
  return linkProgram({object, initial}, archive, options.emission, output, options.output,
                     temporaries, argv0);
}

/// The most bytes of initial values that are embedded in the program by default.
constexpr uint64_t kMaxEmbeddedBytes = uint64_t(1) << 30;

/// Collects the tensors of state whose initial value is an array, and the sum of their bytes.
/// State that is initialized with one number needs no array.
static LogicalResult collectValues(ModuleOp module,
                                   std::vector<std::pair<dpc_array_t, InitialValue>> &values,
                                   uint64_t &bytes) {
  for (auto variable : module.getOps<nn::VariableOp>()) {
    FailureOr<InitialValue> value = readInitialValue(variable);
    if (failed(value))
      return failure();
    if (value->kind != DPC_INIT_EMBEDDED)
      continue;
    ArrayRef<int64_t> shape = variable.getType().getShape();
    dpc_array_t array = {};
    array.name = variable.getTensorName().data();
    array.dtype = value->dtype;
    array.dim_count = shape.size();
    if (shape.size() > DPC_MAX_RANK_DIMS)
      return variable.emitOpError("has ")
             << shape.size() << " dimensions; a program has at most " << DPC_MAX_RANK_DIMS;
    llvm::copy(shape, array.shape);
    array.data = value->bytes.data();
    bytes += value->bytes.size();
    values.push_back({array, std::move(*value)});
  }
  return success();
}

namespace {
/// A file that is written in a temporary folder next to its final path. The file is moved to the
/// final path when all files are complete, so a failed compile leaves the old file.
struct Staged {
  WorkFolder folder;
  std::string place; ///< the final path; empty if this file is not written

  int create(StringRef path) {
    place = path.str();
    llvm::sys::fs::file_status before;
    llvm::sys::fs::status(place, before);
    // A rename would replace a device or a pipe by a file.
    if (llvm::sys::fs::exists(before) && !llvm::sys::fs::is_regular_file(before))
      return fail(place + ": not a regular file", exitIO);
    if (std::error_code error = folder.create(llvm::sys::path::parent_path(place), ".dpc-compile-"))
      return fail(place + ": " + error.message(), exitIO);
    return exitDone;
  }
  std::string getPath() const { return folder.file("file"); }
};
} // namespace

/// Decides where initial values are stored: in the program, in a file, or nowhere
/// (--params=none). If they are stored in a file, writes this file to a temporary path
/// (`written`).
static int placeValues(ModuleOp module, const CompileOptions &options, ProgramOptions &program,
                       Staged &written) {
  if (options.params == "none") {
    program.initialValues = InitialValues::none;
    return exitDone;
  }
  std::vector<std::pair<dpc_array_t, InitialValue>> values;
  uint64_t bytes = 0;
  if (failed(collectValues(module, values, bytes)))
    return exitInvalid;
  std::string file = options.params;
  if (file == "embed") {
    if (bytes <= kMaxEmbeddedBytes)
      return exitDone;
    file = options.output + ".safetensors";
  }
  program.initialValues = InitialValues::file;
  SmallString<256> path(file), folder(options.output);
  llvm::sys::fs::make_absolute(path);
  llvm::sys::fs::make_absolute(folder);
  bool beside = llvm::sys::path::parent_path(path) == llvm::sys::path::parent_path(folder);
  program.parameterFile = beside ? llvm::sys::path::filename(path).str() : path.str().str();
  std::vector<dpc_array_t> arrays;
  for (const auto &[array, value] : values)
    arrays.push_back(array);
  if (int code = written.create(file))
    return code;
  if (dpc_status_t status = dpc_safetensors_write(written.getPath().c_str(), arrays.data(),
                                                  arrays.size(), nullptr, 0))
    return fail(file + ": " + dpc_last_error(), status == DPC_IO ? exitIO : exitInvalid);
  return exitDone;
}

int dpc::writeProgram(ModuleOp module, const CompileOptions &options, onnx::OnnxModel &source,
                      const onnx::SpecPlan &plan, const char *argv0) {
  ProgramOptions program;
  program.name = llvm::sys::path::stem(options.model).str();
  program.command = options.command;
  program.isa = isaOf(options.placed);
  program.functions = findTarget(options.placed.target)->getFunctionForm();
  if (llvm::Error error = addTemplate(module, source, plan, program))
    return fail(options.model + ": " + llvm::toString(std::move(error)), exitInvalid);
  Staged output, values;
  if (int code = output.create(options.output))
    return code;
  if (int code = placeValues(module, options, program, values))
    return code;
  SavedKernels saved;
  const bool savesKernels = !options.kernelFolder.empty();
  if (savesKernels)
    if (int code = saved.create(options.kernelFolder))
      return code;
  if (int code = writeExecutable(module, options, program, output.getPath(),
                                 savesKernels ? &saved : nullptr, argv0))
    return code;
  SmallVector<std::pair<std::string, std::string>> finished;
  for (Staged *file : {&values, &output})
    if (!file->place.empty())
      finished.push_back({file->getPath(), file->place});
  if (savesKernels)
    if (int code = saved.prepare(finished))
      return code;
  std::string failed;
  if (std::error_code error = moveIntoPlace(finished, failed))
    return fail(failed + ": " + error.message(), exitIO);
  return exitDone;
}

// Compiles kernels of a PTX module for the host, one object a kernel, and keeps
// the objects by a hash of what they were made from.
#include "test/cuda_emulator/ptx/Compile.h"

#include "targets/Objects/ObjectCache.h"
#include "test/cuda_emulator/base/Options.h"
#include "test/cuda_emulator/ptx/Translator.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace dpc::emulator;

static constexpr uint64_t kCacheBytes = uint64_t(1) << 30;

static void require(llvm::Error error) {
  if (error)
    fail("%s", llvm::toString(std::move(error)).c_str());
}

template <typename T> static T require(llvm::Expected<T> value) {
  if (!value)
    require(value.takeError());
  return std::move(*value);
}

static std::unique_ptr<llvm::TargetMachine> hostMachine() {
  auto builder = require(llvm::orc::JITTargetMachineBuilder::detectHost());
  // Its conversion to bf16 takes denormal numbers for 0, which a device does not.
  builder.addFeatures({"-avx512bf16"});
  return require(builder.createTargetMachine());
}

CompiledModule::CompiledModule(std::string source, uint64_t (*allocate)(const Variable &))
    : text(std::move(source)), module(parsePtx(text)) {
  for (const Variable &variable : module.variables)
    if (variable.space == Variable::global)
      variables.push_back(allocate(variable));
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  jit = require(llvm::orc::LLJITBuilder().create());
  llvm::orc::SymbolMap symbols;
  llvm::orc::MangleAndInterner mangle(jit->getExecutionSession(), jit->getDataLayout());
  for (const RuntimeFunction &function : runtimeFunctions())
    symbols[mangle(function.name)] = {llvm::orc::ExecutorAddr::fromPtr(function.address),
                                      llvm::JITSymbolFlags::Exported};
  llvm::orc::JITDylib &library = jit->getMainJITDylib();
  require(library.define(llvm::orc::absoluteSymbols(symbols)));
  library.addGenerator(require(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit->getDataLayout().getGlobalPrefix())));
}

CompiledModule::~CompiledModule() = default;

const Kernel *CompiledModule::find(const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex);
  if (auto found = kernels.find(name); found != kernels.end())
    return found->second.get();
  for (const KernelText &kernel : module.kernels)
    if (kernel.name == name) {
      auto compiled = std::make_unique<Kernel>();
      compile(kernel, *compiled);
      return (kernels[name] = std::move(compiled)).get();
    }
  return nullptr;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

/// The object of one kernel.
static std::unique_ptr<llvm::MemoryBuffer>
makeObject(const KernelText &kernel, const KernelPlaces &places, llvm::TargetMachine &machine) {
  llvm::LLVMContext context;
  llvm::Module module("kernel", context);
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple().str());
  const Options &options = Options::get();
  Translator(module, kernel, places, options.check, !options.countFile.empty()).run(kernel.name);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (!options.dumpFile.empty()) {
    std::error_code error;
    llvm::raw_fd_ostream file(options.dumpFile, error);
    module.print(file, nullptr);
  }
  if (llvm::verifyModule(module, &stream))
    fail("kernel %s: %s", kernel.name.c_str(), stream.str().c_str());
  for (llvm::Function &function : module)
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", machine.getTargetCPU());
      function.addFnAttr("target-features", machine.getTargetFeatureString());
    }
  optimize(module, machine);
  llvm::orc::SimpleCompiler compiler(machine);
  return require(compiler(module));
}

/// The object of a kernel: from DPC_EMU_CACHE if it is kept there, else made and
/// kept. A change of the emulator itself makes another key (ObjectCache::keyOf).
static std::unique_ptr<llvm::MemoryBuffer>
findObject(const std::string &text, const KernelText &kernel, const KernelPlaces &places) {
  std::unique_ptr<llvm::TargetMachine> machine = hostMachine();
  const Options &options = Options::get();
  if (options.cacheFolder.empty())
    return makeObject(kernel, places, *machine);
  const dpc::ObjectCache cache = require(dpc::ObjectCache::open(options.cacheFolder, kCacheBytes));
  const std::string key = dpc::ObjectCache::keyOf(
      llvm::join_items("\n", machine->getTargetCPU(), machine->getTargetFeatureString(),
                       options.check ? "checked" : "plain",
                       options.countFile.empty() ? "" : "counted", kernel.name, text));
  if (std::optional<std::string> kept = cache.lookup(key))
    return llvm::MemoryBuffer::getMemBufferCopy(*kept);
  std::unique_ptr<llvm::MemoryBuffer> object = makeObject(kernel, places, *machine);
  cache.store(key, object->getBuffer());
  return object;
}

/// The line and the text of each instruction of a kernel.
static std::vector<std::pair<int, std::string>> textsOf(const KernelText &kernel,
                                                        llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  std::vector<std::pair<int, std::string>> texts;
  for (const Instruction &op : kernel.instructions) {
    const auto at = static_cast<size_t>(op.line) - 1;
    texts.push_back({op.line, at < lines.size() ? lines[at].trim().str() : ""});
  }
  return texts;
}

void CompiledModule::compile(const KernelText &kernelText, Kernel &kernel) {
  const KernelPlaces places = placeVariables(module, kernelText);
  kernel.name = kernelText.name;
  for (const Parameter &parameter : kernelText.parameters)
    kernel.parameters.push_back({parameter.offset, parameter.bytes});
  kernel.parameterBytes = kernelText.parameterBytes;
  kernel.staticShared = places.staticShared;
  kernel.maxThreads = kernelText.maxThreads;
  kernel.requiredThreads = kernelText.requiredThreads;
  kernel.meets = threadsMeet(kernelText);
  kernel.variables = variables;
  kernel.localBytes = places.localBytes;
  if (!Options::get().countFile.empty())
    kernel.instructions = textsOf(kernelText, text);

  require(jit->addObjectFile(findObject(text, kernelText, places)));
  kernel.code = require(jit->lookup(kernel.name)).toPtr<KernelCode>();
}

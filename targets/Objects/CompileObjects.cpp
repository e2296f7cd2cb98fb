// Compiles the modules with the code of kernels to object files or PTX, on all
// cores.

#include "targets/Objects/CompileObjects.h"

#include "dialects/Interfaces/CurrentWork.h"
#include "targets/Loops/Math/LowerToLLVM.h"
#include "targets/Objects/ObjectCache.h"
#include "targets/Objects/WidenByteVectors.h"

#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

using namespace mlir;
using namespace dpc;

void dpc::registerObjectTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

namespace {

/// The processor for which code is generated.
struct Processor {
  const llvm::Target *target = nullptr;
  std::string triple, name, features;
  bool vectorize;
  llvm::CodeGenFileType fileType = llvm::CodeGenFileType::ObjectFile;

  std::unique_ptr<llvm::TargetMachine> createMachine() const {
    llvm::TargetOptions options;
    // LLVM must not contract the product of one op and the sum of another op to one
    // multiply-add. Otherwise the bits of a value could differ between two kernels that
    // compute the value, because LLVM decides by the code around the ops. Reductions
    // permit contraction by fast-math flags on the instructions of the reduction.
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    return std::unique_ptr<llvm::TargetMachine>(
        target->createTargetMachine(triple, name, features, options, llvm::Reloc::PIC_,
                                    std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  }
};

/// Takes LLVM's messages about one kernel. The first error is kept: without a handler, LLVM would
/// end the process. Warnings are dropped, because users can do nothing about them: for example,
/// LLVM cannot make vectors of each loop that a rule asks for (LoopEmitter::Lanes::whereLegal).
class KernelMessages : public llvm::DiagnosticHandler {
public:
  explicit KernelMessages(std::string &error) : error(error) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error && error.empty()) {
      llvm::raw_string_ostream stream(error);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      stream << "cannot be compiled: ";
      info.print(printer);
    }
    return true;
  }

private:
  std::string &error;
};

/// The compilation of one kernel: its input and its result.
struct Unit {
  ModuleOp module;
  KernelObject *result;
  size_t ops = 0;
  bool isFound = false;
  std::string error;
};

} // namespace

static FailureOr<Processor> findProcessor(ModuleOp kernels, const ObjectOptions &options) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  Processor processor;
  processor.triple = llvm::sys::getDefaultTargetTriple();
  if (options.form == ObjectForm::ptx) {
    static const bool knowsPtx = [] {
      LLVMInitializeNVPTXTargetInfo();
      LLVMInitializeNVPTXTarget();
      LLVMInitializeNVPTXTargetMC();
      LLVMInitializeNVPTXAsmPrinter();
      return true;
    }();
    (void)knowsPtx;
    processor.triple = "nvptx64-nvidia-cuda";
    // The oldest version of PTX that has all instructions that kernels use.
    processor.features = "+ptx75";
    processor.fileType = llvm::CodeGenFileType::AssemblyFile;
  }
  std::string error;
  processor.target = llvm::TargetRegistry::lookupTarget(processor.triple, error);
  if (!processor.target)
    return kernels.emitError("cannot generate code for ") << processor.triple << ": " << error;
  processor.name = options.processor;
  if (!options.features.empty())
    processor.features = options.features;
  processor.vectorize = options.vectorize;
  if (options.processor == "native") {
    processor.name = llvm::sys::getHostCPUName().str();
    std::map<std::string, bool> features;
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      features[feature.first().str()] = feature.second;
    for (const auto &[name, isThere] : features)
      processor.features += (isThere ? ",+" : ",-") + name;
    // Remove the leading comma, which LLVM does not accept.
    processor.features.erase(0, 1);
  }
  return processor;
}

/// Optimizes `code` and writes its object file or PTX to `stream`. Returns false
/// if LLVM cannot write this form.
static bool emitObject(llvm::Module &code, llvm::TargetMachine &machine, const Processor &processor,
                       llvm::raw_pwrite_stream &stream) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving = processor.vectorize;
  tuning.SLPVectorization = processor.vectorize;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  // O2, because compilation with O3 takes a third longer and training steps are
  // not faster.
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(code, modules);
  if (machine.getTargetTriple().isNVPTX()) {
    llvm::FunctionPassManager accesses;
    accesses.addPass(llvm::LoadStoreVectorizerPass());
    accesses.addPass(WidenByteVectors());
    llvm::createModuleToFunctionPassAdaptor(std::move(accesses)).run(code, modules);
  }
  llvm::legacy::PassManager emission;
  if (machine.addPassesToEmitFile(emission, stream, nullptr, processor.fileType,
                                  /*DisableVerify=*/true))
    return false;
  emission.run(code);
  return true;
}

/// Renames all definitions whose names begin with `from`: replaces this prefix by
/// `to`.
static void rename(llvm::Module &code, StringRef from, StringRef to) {
  for (llvm::GlobalValue &value : code.global_values()) {
    StringRef name = value.getName();
    if (!value.isDeclaration() && name.consume_front(from))
      value.setName(to + name.str());
  }
}

static void compile(Unit &unit, const Processor &processor, const ObjectCache *cache) {
  CurrentWork work("kernel", unit.result->kernel);
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<KernelMessages>(unit.error));
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(unit.module, context, "kernel");
  if (!code) {
    unit.error = "cannot be translated to LLVM";
    return;
  }
  // The name of the kernel contains its number in the program. Replace the name, so that
  // equal kernels have equal code and one cache entry.
  rename(*code, unit.result->kernel, "kernel");
  std::unique_ptr<llvm::TargetMachine> machine = processor.createMachine();
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(processor.triple);
  std::string content;
  llvm::raw_string_ostream stream(content);
  std::string ops;
  if (auto attribute = unit.module->getAttrOfType<StringAttr>(kOpsAttrName))
    ops = attribute.str() + "_";
  stream << processor.name << '\0' << processor.features << '\0' << ops << '\0';
  if (!processor.vectorize)
    stream << "scalar" << '\0';
  llvm::WriteBitcodeToFile(*code, stream);
  std::string key = ObjectCache::keyOf(content);
  unit.result->symbol = "dpc_kernel_" + ops + key.substr(0, 32);
  if (cache)
    if (std::optional<std::string> object = cache->lookup(key)) {
      unit.result->object = std::move(*object);
      unit.isFound = true;
      return;
    }
  // Give all functions of the kernel their final names, which profilers show.
  rename(*code, "kernel", unit.result->symbol);
  SmallVector<char, 0> object;
  llvm::raw_svector_ostream objectStream(object);
  if (!emitObject(*code, *machine, processor, objectStream)) {
    unit.error = "cannot be written for " + processor.triple;
    return;
  }
  if (!unit.error.empty())
    return;
  unit.result->object.assign(object.begin(), object.end());
  if (cache)
    cache->store(key, unit.result->object);
}

FailureOr<std::vector<KernelObject>>
dpc::compileObjects(ModuleOp kernels, const ObjectOptions &options, const ObjectCache *cache) {
  FailureOr<Processor> processor = findProcessor(kernels, options);
  if (failed(processor) || failed(lowerToLLVM(kernels)))
    return failure();
  auto modules = llvm::to_vector(kernels.getOps<ModuleOp>());
  std::vector<KernelObject> objects(modules.size());
  std::vector<Unit> units;
  // The data layout says how loads and stores are aligned, e.g. to 8 bytes for
  // i64.
  auto layout =
      StringAttr::get(kernels.getContext(),
                      processor->createMachine()->createDataLayout().getStringRepresentation());
  for (auto [module, object] : llvm::zip_equal(modules, objects)) {
    object.kernel = module.getSymName()->str();
    module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(), layout);
    size_t ops = 0;
    module.walk([&](Operation *) { ++ops; });
    units.push_back({module, &object, ops});
  }
  // Compile the longest kernels first. Otherwise one core could still compile a
  // long kernel at the end while the other cores are idle.
  llvm::stable_sort(units, [](const Unit &a, const Unit &b) { return a.ops > b.ops; });
  parallelForEach(kernels.getContext(), units,
                  [&](Unit &unit) { compile(unit, *processor, cache); });
  bool isStored = false;
  for (Unit &unit : units) {
    if (!unit.error.empty())
      return unit.module.emitError(unit.error), failure();
    isStored |= cache && !unit.isFound;
  }
  if (isStored)
    cache->prune();
  return objects;
}

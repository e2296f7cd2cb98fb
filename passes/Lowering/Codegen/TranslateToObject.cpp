// From the module of kernel functions to an object file.

#include "passes/Lowering/Codegen/Codegen.h"
#include "passes/Lowering/Codegen/MathExpansion.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace dpc;

/// Features of the target's CPU, beyond its name.
static std::string featuresOf(const TargetOptions &options) {
  if (options.cpu != "native")
    return "";
  std::string features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
    if (!features.empty())
      features += ',';
    features += (feature.second ? "+" : "-") + feature.first().str();
  }
  return features;
}

unsigned TargetOptions::getVectorBytes() const {
  if (cpu == "native")
    return llvm::sys::getHostCPUFeatures().lookup("avx512f") ? 64 : 32;
  return cpu == "x86-64-v4" ? 64 : 32;
}

void dpc::registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

LogicalResult dpc::lowerToLLVM(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(math::createMathLegalizeToF32());
  arith::ArithEmulateUnsupportedFloatsOptions floats;
  SmallVector<std::string> narrow{"bf16", "f16"};
  floats.sourceTypeStrs = narrow;
  floats.targetTypeStr = "f32";
  passes.addPass(arith::createArithEmulateUnsupportedFloats(floats));
  if (failed(passes.run(module)))
    return failure();
  // Each op of a 16-bit float rounds its result. The emulation allows roundings
  // to be left out between the ops of one kernel, where they would differ from
  // those of the same ops in another.
  module.walk([](arith::ExtFOp op) { op.removeFastmathAttr(); });
  module.walk([](arith::TruncFOp op) { op.removeFastmathAttr(); });
  expandMath(module);
  PassManager conversion(module.getContext());
  conversion.enableVerifier(false);
  conversion.addPass(createArithToLLVMConversionPass());
  return conversion.run(module);
}

LogicalResult dpc::translateToObject(ModuleOp module,
                                     const TargetOptions &options,
                                     llvm::raw_pwrite_stream &stream) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  if (failed(lowerToLLVM(module)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, context, "kernels");
  if (!code)
    return failure();

  std::string triple = llvm::sys::getDefaultTargetTriple(), error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return module.emitError("cannot generate code for ")
           << triple << ": " << error;
  std::string cpu =
      options.cpu == "native" ? llvm::sys::getHostCPUName().str() : options.cpu;
  llvm::TargetOptions machineOptions;
  // A product and a sum of two ops never become one multiply-add: whether they
  // did would depend on the code around them, and what is computed at two
  // places would have different bits. Sums say by flags what they allow.
  machineOptions.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu, featuresOf(options), machineOptions, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(triple);

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving = true;
  tuning.SLPVectorization = true;
  llvm::PassBuilder builder(machine.get(), tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(*code, modules);

  llvm::legacy::PassManager emission;
  if (machine->addPassesToEmitFile(emission, stream, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    return module.emitError("cannot write an object file for ") << triple;
  emission.run(*code);
  return success();
}

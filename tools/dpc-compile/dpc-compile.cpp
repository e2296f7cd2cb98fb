// dpc-compile: from an ONNX file to a program that trains it.

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/Partition/Partition.h"
#include "dpc/program.h"
#include "passes/Lowering/Codegen/Codegen.h"
#include "passes/Lowering/Program/EmitProgram.h"
#include "passes/Lowering/Program/WriteObject.h"
#include "tools/common/CommandLine.h"
#include "tools/dpc-compile/Options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

#include <functional>

using namespace mlir;
using namespace dpc;

/// The ONNX node a location names, or "" if it names none.
static std::string nodeName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location inner : fused.getLocations())
      if (std::string name = nodeName(inner); !name.empty())
        return name;
  return "";
}

/// One line a diagnostic: what went wrong, and at which node.
static LogicalResult printDiagnostic(Diagnostic &diagnostic) {
  llvm::raw_ostream &os = llvm::errs();
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    os << "dpc-compile: error: ";
    break;
  case DiagnosticSeverity::Warning:
    os << "dpc-compile: warning: ";
    break;
  default:
    os << "dpc-compile: note: ";
  }
  if (std::string node = nodeName(diagnostic.getLocation()); !node.empty())
    os << "node '" << node << "': ";
  os << diagnostic << "\n";
  return success();
}

/// Prints `module` to `path` ("" or "-": standard output).
static int printModule(ModuleOp module, StringRef path) {
  std::string error;
  std::error_code code;
  llvm::ToolOutputFile file(path.empty() ? "-" : path, code,
                            llvm::sys::fs::OF_Text);
  if (code) {
    llvm::errs() << "dpc-compile: error: " << path << ": " << code.message()
                 << "\n";
    return exitIO;
  }
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/false);
  module.print(file.os(), flags);
  file.os() << "\n";
  file.os().flush();
  if (file.os().has_error()) {
    llvm::errs() << "dpc-compile: error: " << path << ": "
                 << file.os().error().message() << "\n";
    file.os().clear_error();
    return exitIO;
  }
  file.keep();
  return exitDone;
}

static int fail(const Twine &message, int code) {
  llvm::errs() << "dpc-compile: error: " << message << "\n";
  return code;
}

/// Opens a temporary object file and lets `write` fill it.
static int writeFile(const std::string &path,
                     llvm::function_ref<bool(llvm::raw_fd_ostream &)> write) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code)
    return fail(path + ": " + code.message(), exitIO);
  if (!write(stream))
    return exitInvalid;
  stream.flush();
  if (!stream.has_error())
    return exitDone;
  std::string message = stream.error().message();
  stream.clear_error();
  return fail(path + ": " + message, exitIO);
}

/// DPC_ISA_* that the code for a --cpu needs.
static unsigned isaOf(const std::string &cpu) {
  dpc::TargetOptions target;
  target.cpu = cpu;
  return target.getVectorBytes() == 64 ? DPC_ISA_AVX512 : DPC_ISA_AVX2;
}

/// From level `exec` to the program.
static int writeProgram(ModuleOp module, const CompileOptions &options,
                        const char *argv0) {
  ProgramOptions program;
  program.name = llvm::sys::path::stem(options.model).str();
  program.command = options.command;
  program.isa = isaOf(options.native.cpu);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> record = emitProgram(module, program, context);
  if (!record)
    return exitInvalid;
  TemporaryFiles temporaries;
  std::vector<std::string> objects = {temporaries.create("o"),
                                      temporaries.create("o")};
  if (llvm::is_contained(objects, ""))
    return fail("cannot make a temporary file", exitIO);
  int code = writeFile(objects[0], [&](llvm::raw_fd_ostream &stream) {
    llvm::Error error = writeObject(*record, stream);
    if (!error)
      return true;
    fail(llvm::toString(std::move(error)), exitInvalid);
    return false;
  });
  if (code)
    return code;
  auto kernels =
      module.lookupSymbol<ModuleOp>(exec::ExecDialect::kCodeModuleName);
  kernels->remove();
  OwningOpRef<ModuleOp> owned = kernels;
  dpc::TargetOptions target;
  target.cpu = options.native.cpu;
  code = writeFile(objects[1], [&](llvm::raw_fd_ostream &stream) {
    return succeeded(translateToObject(*owned, target, stream));
  });
  if (code)
    return code;
  return linkProgram(objects, options.emission, options.output, argv0);
}

int main(int argc, char **argv) {
  CompileOptions options = parseOptions(argc, argv);
  DialectRegistry registry;
  registry.insert<nn::NNDialect, dist::DistDialect, func::FuncDialect,
                  exec::ExecDialect>();
  registerPartitionModels(registry);
  registerCodegenDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler(printDiagnostic);
  context.loadAllAvailableDialects();

  OwningOpRef<ModuleOp> module =
      onnx::importOnnx(options.model, &context, options.import, llvm::errs());
  if (!module)
    return exitInvalid;
  PassManager manager(&context);
  // Each level is made from the one before, and checked.
  const std::pair<Level, std::function<void()>> stages[] = {
      {Level::import, [] {}},
      {Level::step, [&] { buildStepPipeline(manager, options.step); }},
      {Level::placed, [&] { buildPlacedPipeline(manager, options.mesh); }},
      {Level::local, [&] { buildLocalPipeline(manager); }},
  };
  for (const auto &[level, build] : stages) {
    if (level > options.stopAfter)
      break;
    build();
    if (options.native.verify)
      addContractCheck(manager, level);
  }
  if (failed(manager.run(*module)))
    return exitInvalid;
  if (options.stopAfter <= Level::placed)
    return printModule(*module, options.output);

  PassManager native(&context);
  buildNativePipeline(native, options.native, options.stopAfter);
  if (failed(native.run(*module)))
    return exitInvalid;
  if (options.stopAfter != Level::object) {
    // The loops of the kernels say nothing that the kernels do not.
    if (auto code =
            module->lookupSymbol<ModuleOp>(exec::ExecDialect::kCodeModuleName))
      code.erase();
    return printModule(*module, options.output);
  }
  return writeProgram(*module, options, argv[0]);
}

// dpc-compile: from an ONNX file to a program that trains it.

#include "dialects/NN/IR/NNDialect.h"
#include "tools/common/CommandLine.h"
#include "tools/dpc-compile/Options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

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

int main(int argc, char **argv) {
  CompileOptions options = parseOptions(argc, argv);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler(printDiagnostic);
  context.loadDialect<nn::NNDialect, func::FuncDialect>();

  OwningOpRef<ModuleOp> module = onnx::importOnnx(
      options.model, &context, options.import, llvm::errs());
  if (!module)
    return exitInvalid;
  if (options.stopAfter == Level::import)
    return printModule(*module, options.output);

  PassManager manager(&context);
  buildStepPipeline(manager, options.step);
  if (failed(manager.run(*module)))
    return exitInvalid;
  if (options.stopAfter == Level::step)
    return printModule(*module, options.output);
  llvm::errs() << "dpc-compile: error: nothing beyond level step is available "
                  "yet: use --stop-after=step\n";
  return exitInvalid;
}

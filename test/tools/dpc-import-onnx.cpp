// The frontend alone, for its tests.
//
// Prints the module at level `import` of one ONNX file; exits 1 after an error.
// With --each it imports every file on its own and prints a line for each.

#include "frontends/onnx/Import/Import.h"
#include "frontends/onnx/Import/Registry.h"
#include "tools/common/FatalErrors.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

namespace cl = llvm::cl;

/// Imports `file` and says by which errors it is refused, on one line each; remarks are
/// notes.
static mlir::OwningOpRef<mlir::ModuleOp> import(const std::string &file, mlir::MLIRContext &context,
                                                const dpc::onnx::ImportOptions &options,
                                                llvm::raw_ostream &errors) {
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    const bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    errors << (isError ? "error: " : "note: ") << diagnostic << '\n';
    return mlir::success();
  });
  return dpc::onnx::importOnnx(file, &context, options, llvm::errs());
}

/// "FILE: imported" or "FILE: error: ..", the errors on one line.
static int importEach(const std::vector<std::string> &files, mlir::MLIRContext &context,
                      const dpc::onnx::ImportOptions &options) {
  int status = 0;
  for (const std::string &file : files) {
    std::string errors;
    llvm::raw_string_ostream stream(errors);
    if (import(file, context, options, stream)) {
      llvm::outs() << file << ": imported\n";
    } else {
      status = 1;
      std::replace(errors.begin(), errors.end(), '\n', ' ');
      llvm::outs() << file << ": " << errors << '\n';
    }
    llvm::outs().flush();
  }
  return status;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  dpc::FatalErrors::install("dpc-import-onnx");
  cl::list<std::string> files(cl::Positional, cl::desc("MODEL.onnx.."));
  cl::list<std::string> shapes("shape", cl::desc("global shape of an input"),
                               cl::value_desc("NAME:DxD"));
  cl::list<std::string> trainable("trainable", cl::desc("initializers to train"),
                                  cl::value_desc("GLOB"));
  cl::list<std::string> frozen("frozen", cl::desc("initializers not to train"),
                               cl::value_desc("GLOB"));
  cl::opt<bool> explain("explain", cl::desc("print which initializers train, and why"));
  cl::opt<bool> asExported("as-exported", cl::desc("restore no parameters"));
  cl::opt<bool> trains("trains", cl::desc("the module is for training"));
  cl::opt<bool> widensHalves("widen-halves", cl::desc("floats of 16 bits are f32"));
  cl::opt<bool> quiet("no-module", cl::desc("do not print the module"));
  cl::opt<bool> locations("locations", cl::desc("print locations"));
  cl::opt<bool> each("each", cl::desc("import each of many files on its own"));
  cl::opt<bool> operators("operators", cl::desc("print the operators there are"));
  cl::ParseCommandLineOptions(argc, argv, "prints an ONNX model in the nn dialect\n");

  if (operators) {
    for (llvm::StringRef name : dpc::onnx::Registry::get().names())
      llvm::outs() << name << '\n';
    return 0;
  }
  dpc::onnx::ImportOptions options;
  // In the order of the command line.
  std::map<unsigned, dpc::onnx::TrainingRequest> training;
  for (unsigned i = 0; i < trainable.size(); ++i)
    training[trainable.getPosition(i)] = {true, trainable[i]};
  for (unsigned i = 0; i < frozen.size(); ++i)
    training[frozen.getPosition(i)] = {false, frozen[i]};
  for (auto &[position, request] : training)
    options.training.push_back(request);
  options.explain = explain;
  options.asExported = asExported;
  options.trains = trains;
  options.widensHalves = widensHalves;
  for (const std::string &shape : shapes)
    if (std::string defect = dpc::onnx::parseShapeOption(shape, options); !defect.empty()) {
      llvm::errs() << "error: --shape: " << defect << '\n';
      return 2;
    }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  if (each)
    return importEach(files, context, options);
  if (files.size() != 1) {
    llvm::errs() << "error: one MODEL.onnx is needed, not " << files.size() << '\n';
    return 2;
  }
  auto module = import(files[0], context, options, llvm::errs());
  if (!module)
    return 1;
  if (!quiet) {
    mlir::OpPrintingFlags flags;
    flags.elideLargeResourceString(64).enableDebugInfo(locations);
    module->print(llvm::outs(), flags);
  }
  return 0;
}

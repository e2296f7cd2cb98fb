//===- dpc-import-onnx.cpp - the frontend alone, for its tests ------------===//
//
// Prints the module at level `import` of one ONNX file; exits 1 after an error.

#include "frontends/onnx/Import.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

namespace cl = llvm::cl;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::opt<std::string> file(cl::Positional, cl::Required,
                            cl::desc("MODEL.onnx"));
  cl::list<std::string> shapes("shape", cl::desc("global shape of an input"),
                               cl::value_desc("NAME:DxD"));
  cl::list<std::string> trainable(
      "trainable", cl::desc("initializers to train"), cl::value_desc("GLOB"));
  cl::list<std::string> frozen("frozen", cl::desc("initializers not to train"),
                               cl::value_desc("GLOB"));
  cl::opt<bool> explain("explain",
                        cl::desc("print which initializers train, and why"));
  cl::opt<bool> quiet("no-module", cl::desc("do not print the module"));
  cl::opt<bool> locations("locations", cl::desc("print locations"));
  cl::ParseCommandLineOptions(argc, argv,
                              "prints an ONNX model in the nn dialect\n");

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
  for (const std::string &shape : shapes)
    if (!dpc::onnx::parseShapeOption(shape, options)) {
      llvm::errs() << "error: --shape=" << shape << " is not NAME:DxDx..\n";
      return 2;
    }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(
      &context, [](mlir::Diagnostic &diagnostic) {
        llvm::errs() << "error: " << diagnostic << '\n';
        return mlir::success();
      });
  auto module = dpc::onnx::importOnnx(file, &context, options, llvm::errs());
  if (!module)
    return 1;
  if (!quiet) {
    mlir::OpPrintingFlags flags;
    flags.elideLargeResourceString(64).enableDebugInfo(locations);
    module->print(llvm::outs(), flags);
  }
  return 0;
}

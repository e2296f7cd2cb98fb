// dpc-opt: mlir-opt with the dialects, targets and passes of dpc. Before the
// first pass it checks that every function has a body, since all passes rely on
// bodies. It refuses options with unbalanced brackets or quotes.

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/NN/Bounds/Bounds.h"
#include "dialects/NN/Channels/Channels.h"
#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/Partition/Partition.h"
#include "dialects/NN/Ranges/Ranges.h"
#include "passes/Pipelines/Pipelines.h"
#include "passes/Verify/Passes.h"
#include "targets/CPU/CPUTarget.h"
#include "targets/CUDA/CUDATarget.h"
#include "targets/Scalar/ScalarTarget.h"
#include "targets/Target.h"
#include "tools/common/FatalErrors.h"
#include "tools/common/NamePasses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

/// Returns the closing bracket or quote that is missing in the text of an
/// option, or 0 if none is missing. If one were missing, MLIR's parser of list
/// options would loop for ever.
static char missingPartner(llvm::StringRef text) {
  static constexpr llvm::StringLiteral opening = "{([\"'", closing = "})]\"'";
  llvm::SmallVector<char> open;
  for (char c : text) {
    bool isQuoted = !open.empty() && (open.back() == '"' || open.back() == '\'');
    if (!open.empty() && c == open.back())
      open.pop_back();
    else if (size_t at = opening.find(c); !isQuoted && at != llvm::StringRef::npos)
      open.push_back(closing[at]);
  }
  return open.empty() ? 0 : open.back();
}

/// Runs the passes of the command line after the check for function bodies.
static llvm::LogicalResult run(const std::string &input, const std::string &output,
                               mlir::DialectRegistry &registry) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> source = mlir::openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> target =
      source ? mlir::openOutputFile(output, &error) : nullptr;
  if (!target) {
    llvm::errs() << "dpc-opt: error: " << error << "\n";
    return llvm::failure();
  }
  auto given = mlir::MlirOptMainConfig::createFromCLOptions();
  mlir::MlirOptMainConfig config = given;
  config.setPassPipelineSetupFn([&](mlir::PassManager &manager) {
    manager.addInstrumentation(std::make_unique<dpc::NamePasses>());
    mlir::PassManager requested(manager.getContext(), manager.getOpAnchorName(),
                                manager.getNesting());
    if (failed(given.setupPassPipeline(requested)))
      return llvm::failure();
    if (!requested.empty() && manager.getOpAnchorName() == mlir::ModuleOp::getOperationName())
      manager.addPass(dpc::createVerifyBodies());
    return given.setupPassPipeline(manager);
  });
  if (failed(mlir::MlirOptMain(target->os(), std::move(source), registry, config)))
    return llvm::failure();
  target->os().flush();
  if (target->os().has_error()) {
    llvm::errs() << "dpc-opt: error: " << (output == "-" ? "standard output" : output) << ": "
                 << target->os().error().message() << "\n";
    target->os().clear_error();
    target.reset(); // removes the output file
    exit(dpc::exitIO);
  }
  target->keep();
  return llvm::success();
}

int main(int argc, char **argv) {
  dpc::FatalErrors::install("dpc-opt");
  // MLIR's own --version mentions only LLVM.
  if (argc == 2 && llvm::StringRef(argv[1]) == "--version") {
    llvm::outs() << "dpc-opt " DPC_VERSION " (MLIR " LLVM_VERSION_STRING ")\n";
    return 0;
  }
  for (llvm::StringRef argument : llvm::ArrayRef(argv + 1, argc - 1))
    if (char missing = argument.starts_with("-") ? missingPartner(argument) : 0) {
      llvm::errs() << "dpc-opt: error: option '" << argument << "' lacks a '" << missing << "'\n";
      return 2;
    }
  mlir::DialectRegistry registry;
  registry.insert<dpc::nn::NNDialect, dpc::dist::DistDialect, dpc::exec::ExecDialect,
                  mlir::func::FuncDialect>();
  dpc::registerPartitionModels(registry);
  dpc::registerBoundsModels(registry);
  dpc::registerChannelsModels(registry);
  dpc::registerRangeModels(registry);
  dpc::registerCPUTarget();
  dpc::registerScalarTarget();
  dpc::registerCUDATarget();
  dpc::registerTargetDialects(registry);
  dpc::registerAllPasses();
  auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "dpc optimizer driver\n", registry);
  return mlir::asMainReturnCode(run(input, output, registry));
}

// dpc-compile: compiles an ONNX file to a program that trains the model or runs inference.

#include "dialects/Dist/IR/PlanAttr.h"
#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Interfaces/NodeNames.h"
#include "dialects/NN/Bounds/Bounds.h"
#include "dialects/NN/Channels/Channels.h"
#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/Partition/Partition.h"
#include "dialects/NN/Ranges/Ranges.h"
#include "frontends/onnx/Model/Load.h"
#include "passes/Explain/PipelineReport.h"
#include "passes/Explain/ProgramReport.h"
#include "passes/Machine/DescribeMachine.h"
#include "passes/Pipelines/Passes.h"
#include "targets/CPU/CPUTarget.h"
#include "targets/CUDA/CUDATarget.h"
#include "targets/Scalar/ScalarTarget.h"
#include "targets/Target.h"
#include "tools/common/FatalErrors.h"
#include "tools/common/NamePasses.h"
#include "tools/common/PrefixStream.h"
#include "tools/dpc-compile/Explain.h"
#include "tools/dpc-compile/FileLayouts.h"
#include "tools/dpc-compile/TuneKernels.h"
#include "tools/dpc-compile/WorkFolder.h"
#include "tools/dpc-compile/WriteProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

#include <functional>

using namespace mlir;
using namespace dpc;

/// Prints a diagnostic as one line with its ONNX node. Prints nothing after the first error,
/// since later diagnostics are consequences of it. Prints each warning once, because the search
/// for a plan that fits into memory runs the same passes on several copies of the module.
static LogicalResult printDiagnostic(Diagnostic &diagnostic) {
  static bool hasFailed = false;
  static llvm::StringSet<> warnings;
  if (hasFailed)
    return success();
  // Messages of the importer already begin with the node and its operator.
  std::string message = diagnostic.str();
  StringRef node;
  if (!StringRef(message).starts_with("node '"))
    node = firstNodeOf(diagnostic.getLocation());
  if (!node.empty())
    message = "node '" + node.str() + "': " + message;
  StringRef kind = "note";
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
    kind = "error";
    hasFailed = true;
  } else if (diagnostic.getSeverity() == DiagnosticSeverity::Warning) {
    kind = "warning";
    if (!warnings.insert(message).second)
      return success();
  }
  llvm::errs() << "dpc-compile: " << kind << ": " << message << "\n";
  return success();
}

/// Prints `module` to the file `path`, or to standard output if `path` is "" or "-".
static int printModule(ModuleOp module, StringRef path) {
  std::string error;
  std::error_code code;
  llvm::ToolOutputFile file(path.empty() ? "-" : path, code, llvm::sys::fs::OF_Text);
  if (code) {
    llvm::errs() << "dpc-compile: error: " << path << ": " << code.message() << "\n";
    return exitIO;
  }
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/false);
  module.print(file.os(), flags);
  file.os() << "\n";
  file.os().flush();
  if (file.os().has_error()) {
    llvm::errs() << "dpc-compile: error: "
                 << (path.empty() || path == "-" ? "standard output" : path) << ": "
                 << file.os().error().message() << "\n";
    file.os().clear_error();
    return exitIO;
  }
  file.keep();
  return exitDone;
}

/// Measures kernels, plays a step, prints the page of --explain and writes the file of --report, as
/// far as the command line asks for them. The page goes to standard output, or to standard error if
/// the program goes to standard output. Returns the exit code.
static int explain(const CompileOptions &options, const onnx::ImportSummary &summary,
                   ModuleOp module, const std::optional<ReshardTable> &reshards) {
  PlayInputs inputs;
  inputs.factors = options.plan.kernels.factors;
  if (options.tune)
    if (int code = tuneKernels(module, options, inputs.measured))
      return code;
  if (options.explain == Explain::none && options.report.empty())
    return exitDone;
  FailureOr<std::optional<PlayedStep>> step = playStepOf(module, inputs, options.changes);
  if (failed(step))
    return exitInvalid;
  const ExplainReport report = explainProgram(options, summary, module, reshards, *step);
  if (!options.report.empty())
    if (int code = writeReport(options, report, module, *step))
      return code;
  if (options.explain == Explain::none)
    return exitDone;
  bool isTaken = options.output.empty() || options.output == "-";
  llvm::raw_fd_ostream &page = isTaken ? llvm::errs() : llvm::outs();
  report.print(page);
  // If standard output and error go to one file, the notes must follow the complete page.
  page.flush();
  if (!page.has_error())
    return exitDone;
  llvm::errs() << "dpc-compile: error: --explain: standard output: " << page.error().message()
               << "\n";
  page.clear_error();
  return exitIO;
}

/// Collects the reshards of a module at level `placed` if --explain or --fail-on-reshard
/// needs them. Returns false, after one line, if a row sends more than --fail-on-reshard allows.
static bool examineReshards(const CompileOptions &options, ModuleOp module,
                            std::optional<ReshardTable> &reshards) {
  if (options.explain == Explain::none && options.report.empty() && !options.mostReshardBytes)
    return true;
  reshards = collectReshards(module);
  if (!reshards || !options.mostReshardBytes)
    return true;
  std::optional<std::string> defect = findReshardAbove(*reshards, *options.mostReshardBytes);
  if (defect)
    llvm::errs() << "dpc-compile: error: --fail-on-reshard: " << *defect << "\n";
  return !defect;
}

/// Prints a note about 16-bit floats in the file, which become f32 or f64 in the program.
static void noteHalves(const onnx::Halves &halves, StringRef precision, llvm::raw_ostream &notes) {
  if (halves.types.empty())
    return;
  const bool isOne = halves.parameters == 1;
  const char *const wide = precision == "f64" ? "f64" : "f32";
  notes << "note: ";
  if (halves.parameters == 0)
    notes << "the file computes in " << halves.types << " in part, the program in " << wide
          << "; --as-exported keeps the file's types\n";
  else
    notes << halves.parameters
          << (isOne ? " parameter of the file is " : " parameters of the file are ") << halves.types
          << (isOne ? ": it, its" : ": they, their") << " optimizer state and the loss are " << wide
          << "; --save-onnx rounds to the file's type, --as-exported keeps it\n";
}

/// Prints a note about a pipeline in which only one stage works at a time.
static void noteMicrobatches(const ProgramPlan &plan) {
  const int64_t stages = plan.stages();
  if (stages > 1 && plan.microbatches < 2)
    llvm::errs() << "dpc-compile: note: with one microbatch the " << stages
                 << " stages work one after the other, and each waits "
                 << 100 * (stages - 1) / stages
                 << "% of the time; with --microbatches=" << 4 * stages << " it waits "
                 << 100 * (stages - 1) / (5 * stages - 1) << "%\n";
}

/// Prints notes about the machine, a pipeline and the loss if the compilation succeeded. The user
/// should check the last of them, because the compiler may have chosen the output, the axis of
/// classes or the labels of the loss. Returns `code`.
static int finish(int code, const CompileOptions &options, const std::optional<std::string> &loss) {
  if (code == exitDone && !options.topologyNote.empty())
    llvm::errs() << "dpc-compile: note: " << options.topologyNote << "\n";
  if (code == exitDone && !options.step.loss.empty())
    noteMicrobatches(options.plan);
  if (code == exitDone && loss)
    llvm::errs() << "dpc-compile: note: " << *loss << "\n";
  return code;
}

/// Adds the searches for a plan with a short step, on a machine that a file describes, and for a
/// plan that fits into the memory of a device.
static void addFitting(OpPassManager &manager, const CompileOptions &options) {
  if (options.topology) {
    FitStepOptions step;
    step.mayChooseBuckets = options.mayChooseBuckets;
    step.axesToDivide = options.axesToDivide;
    step.explain = options.explain == Explain::all;
    manager.addPass(createFitStep(step));
  }
  FitMemoryOptions fit;
  fit.mayRecompute = options.mayRecompute;
  fit.axesToDivide = options.axesToDivide;
  fit.mayShrinkBuckets = options.mayShrinkBuckets;
  manager.addPass(createFitMemory(fit));
}

/// Adopts the plan that the search found. Keeps the memory limit of the command line, which the
/// search removes from the module's plan.
static void adoptPlan(ModuleOp module, ProgramPlan &plan) {
  const int64_t deviceBytes = plan.deviceBytes;
  plan = *dist::getPlan(module);
  plan.deviceBytes = deviceBytes;
}

/// Facts that runPipelines collects at one level, because the module of a later level does not
/// contain them any more.
struct EarlierLevels {
  std::optional<std::string> loss;      ///< the sentence of describeLoss, for a note
  std::optional<ReshardTable> reshards; ///< for --explain and --fail-on-reshard
  onnx::SpecPlan plan;                  ///< the layouts that the saved ONNX model lists
};

/// Turns `module` into each level in order, up to the level `options.stopAfter`. Collects `facts`
/// on the way. Returns false after an error.
static bool runPipelines(CompileOptions &options, ModuleOp module, EarlierLevels &facts) {
  // Each pipeline turns the previous level into its own level, and checks the contract of this
  // level.
  const std::pair<Level, std::function<void(OpPassManager &)>> pipelines[] = {
      {Level::import, [](OpPassManager &manager) { addContractCheck(manager, Level::import); }},
      {Level::step, [&](auto &manager) { buildStepPipeline(manager, options.step); }},
      {Level::placed, [&](auto &manager) { buildPlacedPipeline(manager, options.placed); }},
      {Level::local, [&](auto &manager) { buildLocalPipeline(manager, options.local); }},
      {Level::ordered,
       [&](auto &manager) {
         addFitting(manager, options);
         buildOrderedPipeline(manager, options.ordered);
       }},
      {Level::scheduled,
       [&](auto &manager) { buildScheduledPipeline(manager, options.scheduled); }},
      {Level::exec, [&](auto &manager) { buildExecPipeline(manager, options.exec); }},
  };
  for (const auto &[level, build] : pipelines) {
    if (level > options.stopAfter)
      break;
    if (level == Level::placed && options.topology)
      describeMachine(module, *findTarget(options.placed.target), options.placed.processor,
                      *options.topology);
    PassManager manager(module.getContext());
    manager.addInstrumentation(std::make_unique<NamePasses>());
    build(manager);
    if (failed(manager.run(module)))
      return false;
    if (level == Level::placed) {
      if (!examineReshards(options, module, facts.reshards))
        return false;
      facts.plan = collectPlan(module);
    }
    if (level == Level::ordered) {
      adoptPlan(module, options.plan);
      if (auto borders = module->getAttrOfType<ArrayAttr>(dist::DistDialect::kBordersAttrName))
        for (StringRef border : llvm::drop_begin(borders.getAsValueRange<StringAttr>()))
          facts.plan.starts.push_back(border.str());
    }
    // describeLoss needs functions whose arguments are the tensors that the host knows. Later
    // levels do not have such functions.
    if (level <= Level::local)
      facts.loss = describeLoss(module);
  }
  return true;
}

/// Draws the schedule if --schedule-svg asks for it. Returns the exit code.
static int draw(const CompileOptions &options, ModuleOp module) {
  if (options.drawing.empty())
    return exitDone;
  auto pipeline = module->getAttrOfType<dist::PipelineAttr>(dist::DistDialect::kPipelineAttrName);
  if (!pipeline) {
    llvm::errs() << "dpc-compile: error: --schedule-svg: the program has no schedule: only a "
                    "training step with --microbatches=2 or more has one\n";
    return exitInvalid;
  }
  const int code = writeFile(options.drawing, [&](llvm::raw_fd_ostream &stream) {
    drawSchedule(pipeline, stream);
    return true;
  });
  if (code != exitDone)
    llvm::sys::fs::remove(options.drawing);
  return code;
}

/// Writes the module at the level of --stop-after, or the program. Returns the exit code.
static int write(const CompileOptions &options, ModuleOp module, onnx::OnnxModel &source,
                 const EarlierLevels &facts, const char *argv0) {
  if (options.stopAfter != Level::object) {
    // Do not print the generated code of kernels, because it only repeats the ops of the kernels.
    for (dist::RankProgram program : dist::programsOf(module))
      if (auto code = program.module.lookupSymbol<ModuleOp>(exec::ExecDialect::kCodeModuleName))
        code.erase();
    return printModule(module, options.output);
  }
  return writeProgram(module, options, source, facts.plan, argv0);
}

int main(int argc, char **argv) {
  FatalErrors::install("dpc-compile", removeWorkFolders);
  cleanUpOnInterrupt();
  registerCPUTarget();
  registerScalarTarget();
  registerCUDATarget();
  CompileOptions options;
  parseOptions(argc, argv, options);
  DialectRegistry registry;
  registry.insert<nn::NNDialect, dist::DistDialect, func::FuncDialect, exec::ExecDialect>();
  registerPartitionModels(registry);
  registerBoundsModels(registry);
  registerChannelsModels(registry);
  registerRangeModels(registry);
  registerTargetDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler(printDiagnostic);
  context.loadAllAvailableDialects();

  // Notes about information that the export lost matter only for training. They are also printed
  // with --explain and with --stop-after=import.
  bool trains = !options.step.loss.empty() || options.explain != Explain::none ||
                options.stopAfter == Level::import;
  PrefixStream notes("dpc-compile: ");
  std::unique_ptr<onnx::OnnxModel> source;
  onnx::ImportSummary summary;
  OwningOpRef<ModuleOp> module = onnx::importOnnx(
      options.model, &context, options.import,
      trains ? static_cast<llvm::raw_ostream &>(notes) : llvm::nulls(), &source, &summary);
  if (!module)
    return exitInvalid;
  if (trains && options.import.widensHalves)
    noteHalves(summary.halves, options.step.precision, notes);
  if (options.stopAfter >= Level::placed)
    if (llvm::Error error = addFileLayouts(*source, options.plan, notes)) {
      llvm::errs() << "dpc-compile: error: " << llvm::toString(std::move(error)) << "\n";
      return exitInvalid;
    }
  dist::setPlan(*module, options.plan);
  EarlierLevels facts;
  if (!runPipelines(options, *module, facts))
    return exitInvalid;
  int code = explain(options, summary, *module, facts.reshards);
  if (code == exitDone)
    code = draw(options, *module);
  if (code == exitDone)
    code = write(options, *module, *source, facts, argv[0]);
  if (code != exitDone)
    for (const std::string &file : {options.drawing, options.report})
      if (!file.empty())
        llvm::sys::fs::remove(file);
  return finish(code, options, facts.loss);
}

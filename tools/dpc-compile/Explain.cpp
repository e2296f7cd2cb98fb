// Makes the page of --explain, and writes the file of --report.

#include "tools/dpc-compile/Explain.h"

#include "passes/Explain/Names.h"
#include "passes/Explain/ProgramReport.h"
#include "passes/Report/Page.h"
#include "targets/Target.h"
#include "tools/common/CommandLine.h"
#include "tools/dpc-compile/PlanOptions.h"
#include "tools/dpc-compile/WriteProgram.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace dpc;

static void addModel(ExplainReport &report, const CompileOptions &options,
                     const onnx::ImportSummary &summary) {
  ReportSection &section = report.add("model");
  std::string from = summary.producer.empty() ? "" : ", made by " + summary.producer;
  section.lines.push_back(llvm::sys::path::filename(options.model).str() + ": " +
                          countText(summary.nodes) + " nodes" + from);
  section.columns = {"initializers", ">tensors", ">elements"};
  for (auto [what, count] : {std::pair("trained", &summary.trained),
                             {"frozen by the command line", &summary.frozen},
                             {"buffers (running statistics)", &summary.buffers},
                             {"constants", &summary.constants}})
    if (count->tensors) // a row of zeros says nothing
      section.addRow({what, countText(count->tensors), countText(count->elements)});
}

/// Adds a row for each parameter that the exporter changed and the importer restored, or for the
/// corresponding parameters of repeated layers.
static void addRestored(ExplainReport &report, const onnx::ImportSummary &summary) {
  if (summary.restored.empty())
    return;
  struct Family {
    std::vector<std::string> names, instead;
    std::string type, uses;
  };
  std::vector<Family> families;
  std::map<std::string, size_t> positions;
  for (const auto &[name, type, uses, instead] : summary.restored) {
    const std::string key =
        llvm::join_items("\n", withoutNumbers(name), type, uses, withoutNumbers(instead));
    auto [position, isNew] = positions.try_emplace(key, families.size());
    if (isNew)
      families.emplace_back();
    Family &family = families[position->second];
    family.names.push_back(name);
    family.instead.push_back(instead);
    family.type = type;
    family.uses = uses;
  }
  ReportSection &section = report.add("restored parameters");
  section.columns = {"module's", ">tensors", "each", ">uses", "in the file"};
  for (const Family &family : families)
    section.addRow({commonPattern(family.names), countText(family.names.size()), family.type,
                    family.uses, commonPattern(family.instead)});
}

static void addPlan(ExplainReport &report, const CompileOptions &options) {
  const Target *target = findTarget(options.placed.target);
  report.add("plan").lines.push_back(
      describeCommand(options, target->getFunctionForm() == FunctionForm::gridTable));
}

ExplainReport dpc::explainProgram(const CompileOptions &options, const onnx::ImportSummary &summary,
                                  mlir::ModuleOp module,
                                  const std::optional<ReshardTable> &reshards,
                                  const std::optional<PlayedStep> &step) {
  ExplainReport report;
  if (step)
    addStep(report, module, *step, options.tune);
  addPlan(report, options);
  addModel(report, options, summary);
  addRestored(report, summary);
  addProgram(report, module, reshards ? &*reshards : nullptr);
  return report;
}

int dpc::writeReport(const CompileOptions &options, const ExplainReport &report,
                     mlir::ModuleOp module, const std::optional<PlayedStep> &step) {
  const llvm::StringRef path = options.report;
  if (path.ends_with(".trace.json") && !step) {
    llvm::errs() << "dpc-compile: error: --report: " << path
                 << ": a program that infers has no step to trace\n";
    return exitInvalid;
  }
  const int code = writeFile(options.report, [&](llvm::raw_fd_ostream &stream) {
    if (path.ends_with(".trace.json"))
      writeStepTrace(*step, stream);
    else if (path.ends_with(".html"))
      return succeeded(
          writePage(report, llvm::sys::path::filename(options.model), module, step, stream));
    else
      writeReportJson(report, step, stream);
    return true;
  });
  if (code != exitDone)
    llvm::sys::fs::remove(options.report);
  return code;
}

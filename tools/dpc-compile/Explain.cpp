#include "tools/dpc-compile/Explain.h"

#include "passes/Explain/ProgramReport.h"
#include "passes/Explain/StepReport.h"
#include "targets/Target.h"
#include "tools/dpc-compile/PlanOptions.h"

#include "llvm/Support/Path.h"

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
    section.addRow({what, countText(count->tensors), countText(count->elements)});
}

/// Adds a row for each parameter that the exporter changed and the importer restored.
static void addRestored(ExplainReport &report, const onnx::ImportSummary &summary) {
  if (summary.restored.empty())
    return;
  ReportSection &section = report.add("restored parameters");
  section.columns = {"module's", "type", ">uses", "in the file"};
  for (const auto &[name, type, uses, instead] : summary.restored)
    section.addRow({name, type, uses, instead});
}

static void addPlan(ExplainReport &report, const CompileOptions &options) {
  const Target *target = findTarget(options.placed.target);
  report.add("plan").lines.push_back(
      describePlan(options.plan, target->getFunctionForm() == FunctionForm::gridTable));
}

bool dpc::explainProgram(const CompileOptions &options, const onnx::ImportSummary &summary,
                         mlir::ModuleOp module, const std::optional<ReshardTable> &reshards,
                         const KernelSeconds &measured, llvm::raw_ostream &os) {
  ExplainReport report;
  if (mlir::failed(addStep(report, module, measured)))
    return false;
  addModel(report, options, summary);
  addRestored(report, summary);
  addPlan(report, options);
  addProgram(report, module, reshards ? &*reshards : nullptr);
  report.print(os);
  return true;
}

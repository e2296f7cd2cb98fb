#include "tools/dpc-compile/Explain.h"

#include "passes/Explain/ProgramReport.h"

#include "llvm/Support/Path.h"

using namespace dpc;

static void addModel(Report &report, const CompileOptions &options,
                     const onnx::ImportSummary &summary) {
  ReportSection &section = report.add("model");
  std::string from =
      summary.producer.empty() ? "" : ", made by " + summary.producer;
  section.lines.push_back(llvm::sys::path::filename(options.model).str() +
                          ": " + countText(summary.nodes) + " nodes" + from);
  section.columns = {"initializers", ">tensors", ">elements"};
  for (auto [what, count] : {std::pair("trained", &summary.trained),
                             {"frozen by the command line", &summary.frozen},
                             {"buffers (running statistics)", &summary.buffers},
                             {"constants", &summary.constants}})
    section.addRow(
        {what, countText(count->tensors), countText(count->elements)});
}

void dpc::explainProgram(const CompileOptions &options,
                         const onnx::ImportSummary &summary,
                         mlir::ModuleOp module, llvm::raw_ostream &os) {
  Report report;
  addModel(report, options, summary);
  addProgram(report, module);
  report.print(os);
}

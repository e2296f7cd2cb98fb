// dpc-report: lays traces of a run beside the plan of its program.

#include "tools/common/FatalErrors.h"
#include "tools/common/OptionTable.h"
#include "tools/dpc-report/Comparison.h"

using namespace dpc;

static constexpr llvm::StringLiteral kNotes = R"(
PLAN.json is a file of dpc-compile --report=PLAN.json or --report=PLAN.trace.json. Each TRACE.json
is the file of one rank of dpc-run --trace=TRACE.json. The report has the predicted and the measured
times of a step, of each function and of each collective, the largest differences first, and the
bytes that ranks sent.
)";

static int fail(const llvm::Twine &message, int code = exitInvalid) {
  llvm::errs() << "dpc-report: error: " << message << "\n";
  return code;
}

int main(int argc, char **argv) {
  FatalErrors::install("dpc-report");
  OptionTable table;
  llvm::opt::InputArgList args =
      parseCommandLine(table, argc, argv, OPT_help, OPT_version, OPT_UNKNOWN, "dpc-report",
                       "dpc-report PLAN.json TRACE.json.. [options]",
                       "dpc-report: lays traces of a run beside the plan of its program", kNotes);
  const int64_t rows = integerOption(args, OPT_rows, "dpc-report", 24, 0);
  const std::vector<std::string> files = args.getAllArgValues(OPT_INPUT);
  if (files.size() < 2)
    return fail("a plan and at least one trace are needed: dpc-report PLAN.json TRACE.json..",
                exitUsage);
  llvm::Expected<StepPlan> plan = readPlan(files.front());
  if (!plan)
    return fail(llvm::toString(plan.takeError()));
  std::vector<StepTrace> traces;
  for (const std::string &path : llvm::ArrayRef(files).drop_front()) {
    llvm::Expected<StepTrace> trace = readTrace(path);
    if (!trace)
      return fail(llvm::toString(trace.takeError()));
    traces.push_back(std::move(*trace));
  }
  if (llvm::Error error = checkTraces(*plan, traces))
    return fail(llvm::toString(std::move(error)));
  compareSteps(*plan, traces, rows ? size_t(rows) : SIZE_MAX).print(llvm::outs());
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return exitDone;
  const std::string message = llvm::outs().error().message();
  llvm::outs().clear_error();
  return fail("standard output: " + message, exitIO);
}

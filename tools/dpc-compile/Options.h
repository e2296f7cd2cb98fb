#ifndef DPC_TOOLS_DPC_COMPILE_OPTIONS_H
#define DPC_TOOLS_DPC_COMPILE_OPTIONS_H

#include "frontends/onnx/Import/Import.h"
#include "passes/Pipelines/Pipelines.h"
#include "planning/Plan.h"
#include "planning/StepPlay.h"
#include "tools/dpc-compile/LinkProgram.h"

namespace dpc {

/// How much dpc-compile reports about the program (--explain).
enum class Explain {
  none,
  /// The decisions, in a few tables.
  page,
  /// The page, and a line for each decision.
  all
};

/// A command line of dpc-compile.
struct CompileOptions {
  std::string model;
  std::string output;
  onnx::ImportOptions import;
  StepOptions step;
  PlacedOptions placed;
  /// The machine to plan for, unless it has the target's numbers.
  std::optional<Topology> topology;
  /// A sentence that names the file of `topology`, or of a measured host that does not fit, unless
  /// the command line names it; for a note.
  std::string topologyNote;
  LocalOptions local;
  OrderedOptions ordered;
  ScheduledOptions scheduled;
  ExecOptions exec;
  /// The plan that the command line requests. After level `ordered`, the plan that the program
  /// follows.
  ProgramPlan plan;
  Emission emission = Emission::exe;
  /// "embed", "none", or the path of the file that gets the initial values.
  std::string params = "embed";
  /// The folder that keeps compiled kernels between compiles, or "" for none. If
  /// --cache names the folder (`needsCache`), a folder that cannot be used is an error.
  std::string cacheFolder;
  bool needsCache = false;
  /// The command line. The compiled program shows it in its messages.
  std::string command;
  /// The path of NVIDIA's assembler (ptxas), or "" if there is none. `assembled` lists the
  /// devices for which the assembler makes machine code, such as sm_90.
  std::string assembler;
  std::vector<std::string> assembled;
  Level stopAfter = Level::object;
  Explain explain = Explain::none;
  /// Whether the page takes the times of kernels from a measurement on this host (--tune).
  bool tune = false;
  /// The file that gets a drawing of the schedule (--schedule-svg), or "" for none.
  std::string drawing;
  /// Slow ranks and levels in the play of a step (--slow, --slow-link).
  PlayChanges changes;
  /// The file that gets the report (--report), or "" for none.
  std::string report;
  /// The folder that gets the code of the kernels and the list of launches (--save-kernels), or ""
  /// for none.
  std::string kernelFolder;
  /// The most bytes that one row of --explain's table of reshards may send (--fail-on-reshard).
  std::optional<int64_t> mostReshardBytes;
  /// The words of the command line that describeCommand() repeats.
  std::vector<std::string> otherWords;
  /// Choices that the command line leaves open. If a program needs more memory than
  /// `plan.deviceBytes`, dpc-compile may recompute parts of the forward pass, divide state over
  /// the axes `axesToDivide`, and make buckets smaller.
  bool mayRecompute = false;
  std::vector<std::string> axesToDivide;
  bool mayShrinkBuckets = false;
  /// Whether sizes of buckets may be those with which a step on the machine of a topology file is
  /// shortest. `axesToDivide` allows the same for the division of optimizer state.
  bool mayChooseBuckets = false;
};

/// Reads the command line into `options`. Exits with 0 after --help or --version. Exits with 2,
/// after one line that names the option, for an option or a value that dpc-compile does not know or
/// that this version does not offer. Exits with 1 if an output would replace the model or the other
/// output.
void parseOptions(int argc, char **argv, CompileOptions &options);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_OPTIONS_H

#ifndef DPC_TOOLS_DPC_COMPILE_OPTIONS_H
#define DPC_TOOLS_DPC_COMPILE_OPTIONS_H

#include "frontends/onnx/Import/Import.h"
#include "passes/Pipelines/Pipelines.h"
#include "planning/Plan.h"
#include "tools/dpc-compile/LinkProgram.h"

namespace dpc {

/// How much is said about the program.
enum class Explain {
  none,
  /// What was decided, in a few tables.
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
  LocalOptions local;
  OrderedOptions ordered;
  ScheduledOptions scheduled;
  ExecOptions exec;
  /// The plan that the command line asks for; after scheduling, the one that was followed.
  ProgramPlan plan;
  Emission emission = Emission::exe;
  /// embed, none or the file that initial values go to.
  std::string params = "embed";
  /// Where kernels are kept between compiles, or "", and whether the command
  /// line said so.
  std::string cacheFolder;
  bool needsCache = false;
  /// The command line, for the program's messages.
  std::string command;
  /// NVIDIA's assembler, or "", and the devices that it makes machine code for.
  std::string assembler;
  std::vector<std::string> assembled;
  Level stopAfter = Level::object;
  Explain explain = Explain::none;
  /// The most bytes that one row of the table of reshards may move.
  std::optional<int64_t> mostReshardBytes;
  /// Choices that the command line leaves open, for a program that needs more memory than
  /// `plan.deviceBytes`: parts of the forward pass may be computed again, state may be divided
  /// over these axes, buckets may be made smaller.
  bool mayRecompute = false;
  std::vector<std::string> axesToDivide;
  bool mayShrinkBuckets = false;
};

/// Reads the command line into `options`. Exits with 0 after --help and with 2,
/// after one line that names the option, for anything it does not understand or
/// that this version does not offer.
void parseOptions(int argc, char **argv, CompileOptions &options);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_OPTIONS_H

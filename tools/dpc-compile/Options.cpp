// Reads the command line of dpc-compile into the options of the pipelines.

#include "tools/dpc-compile/Options.h"

#include "passes/Autodiff/Metrics.h"
#include "passes/Optimize/Optimizer.h"
#include "targets/Objects/ObjectCache.h"
#include "targets/Target.h"
#include "tools/common/CommandLine.h"
#include "tools/common/OptionTable.h"
#include "tools/dpc-compile/OptionValues.h"
#include "tools/dpc-compile/PlanOptions.h"
#include "tools/dpc-compile/ProgramOptions.h"
#include "tools/dpc-compile/TopologyChoice.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"

#include <cmath>

using namespace llvm;
using namespace llvm::opt;
using namespace dpc;

/// Parses DxDx.. as extents of at least 1. Messages call the option `option`.
static std::vector<int64_t> parseShape(StringRef text, StringRef option) {
  std::vector<int64_t> shape;
  if (text.empty())
    return shape;
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t extent;
    if (part.getAsInteger(10, extent) || extent < 1)
      usageError(option + ": '" + part + "' in '" + text + "' is not an extent of at least 1");
    shape.push_back(extent);
  }
  return shape;
}

/// Parses --loss: KIND[,KEY=VALUE..], such as cross-entropy,label-smoothing=0.1,of=logits.
static void parseLoss(StringRef text, StepOptions &step) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  step.loss = parts[0].str();
  for (StringRef part : drop_begin(parts)) {
    auto [key, value] = part.split('=');
    if (step.loss == "cross-entropy" && key == "label-smoothing") {
      double smoothing;
      if (value.getAsDouble(smoothing) || !(smoothing >= 0 && smoothing <= 1))
        usageError("--loss: label-smoothing=" + value + " is not a number from 0 to 1");
      step.labelSmoothing = smoothing;
    } else if (step.loss == "cross-entropy" && key == "ignore-index") {
      int64_t ignored;
      if (value.getAsInteger(10, ignored))
        usageError("--loss: ignore-index=" + value + " is not a whole number");
      step.ignoreIndex = ignored;
    } else if (step.loss == "cross-entropy" && key == "axis") {
      int64_t axis;
      if (value.getAsInteger(10, axis))
        usageError("--loss: axis=" + value + " is not a whole number");
      step.classAxis.push_back(axis);
    } else if (key == "of" && !StringRef(step.loss).starts_with("output:")) {
      if (value.empty() || !step.lossOutput.empty())
        usageError("--loss: of=" + value +
                   (value.empty() ? " names no output" : ": the loss is of one output"));
      step.lossOutput = value.str();
    } else {
      usageError("--loss: " + step.loss + " has no option '" + key + "'");
    }
  }
}

/// Parses --metric: NAME[,NAME..], the values that evaluation reports in addition to the loss.
static void parseMetrics(StringRef text, StepOptions &step) {
  if (step.loss.empty())
    usageError("--metric needs --loss: a program that infers evaluates nothing");
  SmallVector<StringRef> names;
  text.split(names, ',');
  for (StringRef name : names) {
    if (const std::string defect = findMetricDefect(name, step.loss); !defect.empty())
      usageError("--metric: " + defect);
    if (llvm::is_contained(step.metrics, name))
      usageError("--metric: '" + name + "' is given twice");
    step.metrics.push_back(name.str());
  }
}

/// Parses --cuda-arch. `assembled` gets each device once. The processor is the oldest device,
/// because later devices also run its PTX.
static void parseDevices(const InputArgList &args, ArrayRef<StringRef> known,
                         CompileOptions &options) {
  SmallVector<StringRef> names(known);
  if (const Arg *arg = args.getLastArg(OPT_cuda_arch)) {
    names.clear();
    StringRef(arg->getValue()).split(names, ',');
  }
  for (StringRef name : names) {
    if (!is_contained(known, name))
      usageError("--cuda-arch: unknown device '" + name + "'; known: " + join(known, ", "));
    if (!is_contained(options.assembled, name))
      options.assembled.push_back(name.str());
  }
  options.placed.processor = *min_element(options.assembled);
}

/// Finds NVIDIA's assembler (ptxas). A path that --ptxas names must be executable. Without the
/// option, a missing assembler is only a note: the driver can compile PTX too.
static void findAssembler(const InputArgList &args, CompileOptions &options) {
  if (const Arg *arg = args.getLastArg(OPT_ptxas)) {
    const StringRef given = arg->getValue();
    if (given == "off")
      return;
    if (!sys::fs::can_execute(given) || sys::fs::is_directory(given))
      usageError("--ptxas: '" + given + "' is no program that can be run");
    options.assembler = given.str();
    return;
  }
  std::vector<std::string> folders;
  if (std::optional<std::string> home = sys::Process::GetEnv("CUDA_HOME"))
    folders.push_back(*home + "/bin");
  folders.push_back("/usr/local/cuda/bin");
  ErrorOr<std::string> found = sys::findProgramByName("ptxas");
  if (!found)
    found = sys::findProgramByName("ptxas", SmallVector<StringRef>(folders.begin(), folders.end()));
  if (found)
    options.assembler = *found;
  else
    errs() << "dpc-compile: note: ptxas is not found: the program holds PTX, which the driver "
              "compiles when it starts (--ptxas)\n";
}

/// Parses the target and the processor that run the kernels. Refuses options of other targets.
static void parseTarget(const InputArgList &args, CompileOptions &options) {
  PlacedOptions &machine = options.placed;
  machine.target = args.getLastArgValue(OPT_target, machine.target).str();
  const Target *target = findTarget(machine.target);
  if (!target) {
    std::string known;
    for (const Target *each : getTargets())
      known += (known.empty() ? each->getName() : ", " + each->getName()).str();
    usageError("--target: unknown target '" + machine.target + "'; known: " + known);
  }
  ArrayRef<StringRef> processors = target->getProcessors();
  const bool isCuda = target->getFunctionForm() == FunctionForm::gridTable;
  auto refuse = [&](unsigned option, StringRef name) {
    if (args.hasArg(option))
      usageError(name + ": not an option of --target=" + machine.target);
  };
  if (isCuda) {
    refuse(OPT_cpu, "--cpu");
    return parseDevices(args, processors, options);
  }
  refuse(OPT_cuda_arch, "--cuda-arch");
  refuse(OPT_ptxas, "--ptxas");
  refuse(OPT_save_kernels, "--save-kernels");
  machine.processor = args.getLastArgValue(OPT_cpu, processors.front()).str();
  if (!is_contained(processors, machine.processor))
    usageError("--cpu: unknown processor '" + machine.processor +
               "'; known: " + join(processors, ", "));
}

/// Parses --slow and --slow-link.
static void parseChanges(const InputArgList &args, CompileOptions &options) {
  auto parse = [](StringRef option, StringRef text, StringRef form) {
    auto [what, number] = text.rsplit(':');
    double factor;
    if (what.empty() || number.getAsDouble(factor) || !(factor > 0) || !std::isfinite(factor))
      usageError(option + ": '" + text + "' is not " + form + " with X above 0");
    return std::pair(what, factor);
  };
  for (StringRef text : args.getAllArgValues(OPT_slow)) {
    auto [rank, factor] = parse("--slow", text, "RANK:X");
    int64_t number;
    if (rank.getAsInteger(10, number))
      usageError("--slow: '" + rank + "' is not the number of a rank");
    options.changes.slowRanks.push_back({number, factor});
  }
  for (StringRef text : args.getAllArgValues(OPT_slow_link)) {
    auto [level, factor] = parse("--slow-link", text, "LEVEL:X");
    options.changes.slowLevels.push_back({level.str(), factor});
  }
}

/// Parses --tune, which needs kernels that run on this machine.
static void parseTune(const InputArgList &args, CompileOptions &options) {
  options.tune = args.hasArg(OPT_tune);
  if (!options.tune)
    return;
  if (options.stopAfter < Level::exec)
    usageError("--tune needs the level exec, which --stop-after comes before");
  const Target *target = findTarget(options.placed.target);
  CodeOptions code;
  code.processor = options.placed.processor;
  static const std::pair<HostLevel, StringRef> needed[] = {
      {HostLevel::v3, "avx2"}, {HostLevel::v4, "avx512bw"}, {HostLevel::v4Bf16, "avx512bf16"}};
  const StringMap<bool> features = sys::getHostCPUFeatures();
  const bool isDevice = target->getFunctionForm() == FunctionForm::gridTable;
  const bool isMissing = any_of(needed, [&](const auto &each) {
    return each.first == target->getHostLevel(code) && !features.lookup(each.second);
  });
  if (isDevice || isMissing) {
    errs() << "dpc-compile: error: --tune: this machine cannot run kernels for --"
           << (isDevice ? "target=" + options.placed.target
                        : "cpu=" + std::string(options.placed.processor))
           << "\n";
    exit(exitInvalid);
  }
}

static Explain parseExplain(const InputArgList &args) {
  if (const Arg *arg = args.getLastArg(OPT_explain_eq)) {
    if (StringRef(arg->getValue()) != "all")
      usageError("--explain: unknown extent '" + Twine(arg->getValue()) + "'; known: all");
    return Explain::all;
  }
  return args.hasArg(OPT_explain) ? Explain::page : Explain::none;
}

/// Parses the options about the output: its kind, the initial values, the cache of kernels, the
/// checks, and the level to stop after.
static void parseOutput(const InputArgList &args, CompileOptions &options) {
  options.needsCache = args.hasArg(OPT_cache);
  options.cacheFolder = args.getLastArgValue(OPT_cache, ObjectCache::defaultFolder()).str();
  if (options.needsCache && options.cacheFolder.empty())
    usageError("--cache= needs a folder or off");
  if (options.cacheFolder == "off")
    options.cacheFolder.clear();
  options.step.verify = options.placed.verify = options.local.verify = options.ordered.verify =
      options.scheduled.verify = options.exec.verify =
          parseSwitch(args, OPT_verify_plan, "--verify-plan");
  options.params = args.getLastArgValue(OPT_params, "embed").str();
  if (options.params.empty())
    usageError("--params= needs embed, none or a file");
  StringRef emission = args.getLastArgValue(OPT_emit, "exe");
  if (emission == "shared")
    options.emission = Emission::shared;
  else if (emission == "object")
    options.emission = Emission::object;
  else if (emission != "exe")
    usageError("--emit: unknown kind '" + emission + "'; known: exe, shared, object");

  if (const Arg *arg = args.getLastArg(OPT_stop_after)) {
    std::optional<Level> level = parseLevel(arg->getValue());
    if (!level)
      usageError("--stop-after: unknown level '" + Twine(arg->getValue()) +
                 "'; known: " + levelNames());
    options.stopAfter = *level;
  }
}

/// Whether the loss compares an output with labels from the data. A loss output:NAME does not.
static bool readsLabels(const InputArgList &args) {
  const StringRef loss = args.getLastArgValue(OPT_loss);
  return !loss.empty() && !loss.starts_with("output:");
}

/// Parses the options about the import: shapes, batch dimensions, and the initializers to train.
static void parseImport(const InputArgList &args, CompileOptions &options) {
  for (const std::string &text : args.getAllArgValues(OPT_shape))
    if (const std::string defect = onnx::parseShapeOption(text, options.import); !defect.empty())
      usageError("--shape: " + defect);
  for (const std::string &text : args.getAllArgValues(OPT_batch_dim)) {
    auto [name, dim] = StringRef(text).rsplit(':');
    int64_t value;
    if (name.empty() || dim.getAsInteger(10, value) || value < -1)
      usageError("--batch-dim: '" + text + "' is not NAME:K");
    if (name == "label" && readsLabels(args)) {
      if (value < 0)
        usageError("--batch-dim: '" + text + "': every sample has a label");
      if (!options.step.labelBatchDim.empty() && options.step.labelBatchDim[0] != value)
        usageError("--batch-dim: 'label' is given twice");
      options.step.labelBatchDim = {value};
      continue;
    }
    if (!options.import.batchDims.try_emplace(name.str(), value).second)
      usageError("--batch-dim: '" + name + "' is given twice");
  }
  options.import.explain = options.explain == Explain::all;
  options.import.asExported = args.hasArg(OPT_as_exported);
  for (const Arg *arg : args.filtered(OPT_trainable, OPT_frozen))
    options.import.training.push_back({arg->getOption().matches(OPT_trainable), arg->getValue()});
}

/// Parses --grad-reduce, the type to which gradients are rounded before ranks sum them.
static void parseGradReduce(const InputArgList &args, CompileOptions &options) {
  const Arg *arg = args.getLastArg(OPT_grad_reduce);
  if (!arg)
    return;
  const std::string type = arg->getValue();
  if (type != "f32" && type != "bf16")
    usageError("--grad-reduce: unknown type '" + type + "'; known: f32, bf16");
  if (options.step.precision == "f64")
    usageError("--grad-reduce=" + type + " contradicts --precision=f64, whose gradients are f64");
  if (type == "bf16")
    options.step.gradientType = type;
}

static void parsePrecision(const InputArgList &args, StepOptions &step) {
  std::string &type = step.precision;
  type = args.getLastArgValue(OPT_precision, "f32").str();
  if (!llvm::is_contained({"f32", "f64", "tf32", "tf32x3", "bf16", "f16"}, StringRef(type)))
    usageError("--precision: unknown type '" + type +
               "'; known: f32, f64, tf32, tf32x3, bf16, f16");
  // With tf32 and tf32x3 all values are f32. Only products use their factors in another form, which
  // parsePlan handles.
  if (type == "tf32" || type == "tf32x3")
    type = "f32";
}

/// Parses the options about the training step: loss, labels, metrics, optimizer and clipping.
static void parseStep(const InputArgList &args, StepOptions &step) {
  if (const Arg *arg = args.getLastArg(OPT_loss))
    parseLoss(arg->getValue(), step);
  if (const Arg *arg = args.getLastArg(OPT_label_shape))
    step.labelShape = parseShape(arg->getValue(), "--label-shape");
  step.labelType = args.getLastArgValue(OPT_label_type).str();
  step.optimizer = args.getLastArgValue(OPT_optimizer).str();
  if (step.loss.empty() != step.optimizer.empty())
    usageError(step.loss.empty() ? "--optimizer needs --loss" : "--loss needs --optimizer");
  if (const Arg *arg = args.getLastArg(OPT_metric))
    parseMetrics(arg->getValue(), step);
  for (std::string text : args.getAllArgValues(OPT_param_group)) {
    std::replace(text.begin(), text.end(), ',', ';');
    step.parameterGroups.push_back(text);
  }
  if (const Arg *arg = args.getLastArg(OPT_clip_grad_norm))
    step.clipGradNorm = parseNumber(*arg, 0);
  step.logGradNorm = args.hasArg(OPT_log_grad_norm);
  if (const Arg *arg = args.getLastArg(OPT_lr_schedule))
    step.schedule = arg->getValue();
}

/// Returns the number of groups of samples for which batch normalisation computes separate
/// statistics. Each microbatch is one group. With --batch-norm=local, each shard of a microbatch
/// is one group.
static int64_t parseBatchGroups(const InputArgList &args, const ProgramPlan &plan) {
  StringRef mode = args.getLastArgValue(OPT_batch_norm, "global");
  if (mode != "global" && mode != "local")
    usageError("--batch-norm: unknown mode '" + mode + "'; known: global, local");
  int64_t groups = std::max<int64_t>(plan.microbatches, 1);
  for (const PlanAxis &axis : plan.mesh)
    if (mode == "local" && axis.cutsBatch)
      groups *= axis.size;
  return groups;
}

/// Whether two paths name the same file, also if the files do not exist yet.
static bool isSameFile(StringRef a, StringRef b) {
  bool same = false;
  if (!sys::fs::equivalent(a, b, same))
    return same;
  auto resolve = [](StringRef path) {
    SmallString<256> folder(path), out;
    sys::fs::make_absolute(folder);
    sys::path::remove_filename(folder);
    if (sys::fs::real_path(folder, out))
      out = folder;
    sys::path::append(out, sys::path::filename(path));
    return out;
  };
  return resolve(a) == resolve(b);
}

/// Refuses outputs that would replace the model, and two outputs with the same
/// path.
static void checkFiles(const CompileOptions &options) {
  SmallVector<std::pair<StringRef, StringRef>> written;
  if (options.output != "-")
    written.push_back({"-o", options.output});
  if (options.params != "embed" && options.params != "none")
    written.push_back({"--params", options.params});
  if (!options.drawing.empty())
    written.push_back({"--schedule-svg", options.drawing});
  if (!options.report.empty())
    written.push_back({"--report", options.report});
  if (!options.kernelFolder.empty())
    written.push_back({"--save-kernels", options.kernelFolder});
  for (const auto &[option, path] : written)
    if (!path.empty() && isSameFile(path, options.model)) {
      errs() << "dpc-compile: error: " << option << ": " << path << " is the model\n";
      exit(exitInvalid);
    }
  for (size_t second = 1; second < written.size(); ++second)
    for (size_t first = 0; first < second; ++first) {
      if (!isSameFile(written[first].second, written[second].second))
        continue;
      errs() << "dpc-compile: error: " << written[first].first << " and " << written[second].first
             << " both write " << written[first].second << "\n";
      exit(exitInvalid);
    }
}

void dpc::parseOptions(int argc, char **argv, CompileOptions &options) {
  OptionTable table;
  InputArgList args = parseCommandLine(
      table, argc, argv, OPT_help, OPT_version, OPT_UNKNOWN, "dpc-compile",
      "dpc-compile MODEL.onnx -o OUT [options]",
      "dpc-compile: turns an ONNX model into a program that trains it on many "
      "devices",
      "\nOPTIMIZERS, THEIR OPTIONS AND DEFAULTS (as torch.optim's):\n" + Optimizer::describeAll(),
      explainProgramOption);
  std::vector<std::string> inputs = args.getAllArgValues(OPT_INPUT);
  if (inputs.size() != 1)
    usageError("one MODEL.onnx is needed, not " + Twine(inputs.size()));
  options.model = inputs[0];
  options.output = args.getLastArgValue(OPT_o).str();
  options.explain = parseExplain(args);
  options.command = "dpc-compile";
  for (int i = 1; i < argc; ++i)
    options.command += std::string(" ") + argv[i];
  parseTarget(args, options);
  parseOutput(args, options);
  parseTune(args, options);
  parseChanges(args, options);
  parseImport(args, options);
  if (options.stopAfter == Level::object && options.output.empty())
    usageError("-o OUT is missing");
  parseStep(args, options.step);
  const Target *target = findTarget(options.placed.target);
  if (target->getFunctionForm() == FunctionForm::gridTable && options.stopAfter == Level::object)
    findAssembler(args, options);
  if (args.hasArg(OPT_offload))
    usageError("--offload: dpc does not move state or activations to the host's memory; --zero=3 "
               "divides state, --remat=auto with --device-memory computes activations again, "
               "--precision=bf16 and --microbatches make them smaller");
  parsePrecision(args, options.step);
  parseGradReduce(args, options);
  options.import.trains = !options.step.loss.empty();
  options.import.skipsValues = options.params == "none";
  // If --precision is not given, inference programs and programs of --as-exported keep the types
  // of the file.
  options.import.widensHalves =
      args.hasArg(OPT_precision) || (options.import.trains && !options.import.asExported);
  parsePlan(args, options);
  options.otherWords = findOtherWords(args);
  chooseTopology(args, options);
  if (const Arg *arg = args.getLastArg(OPT_fail_on_reshard))
    options.mostReshardBytes = parseBytes(*arg);
  options.placed.explain = options.explain == Explain::all;
  options.ordered.explain = options.scheduled.explain = options.placed.explain;
  options.drawing = args.getLastArgValue(OPT_schedule_svg).str();
  if (!options.drawing.empty() && options.stopAfter < Level::scheduled)
    usageError("--schedule-svg needs the level scheduled, which --stop-after comes before");
  options.report = args.getLastArgValue(OPT_report).str();
  if (args.hasArg(OPT_report) && !StringRef(options.report).ends_with(".html") &&
      !StringRef(options.report).ends_with(".json"))
    usageError("--report=" + options.report +
               ": the name of a report ends with .html, .json or .trace.json");
  if (!options.report.empty() && options.stopAfter < Level::exec)
    usageError("--report needs the level exec, which --stop-after comes before");
  options.kernelFolder = args.getLastArgValue(OPT_save_kernels).str();
  if (args.hasArg(OPT_save_kernels) && options.kernelFolder.empty())
    usageError("--save-kernels: the name of a folder is missing");
  if (!options.kernelFolder.empty() && options.stopAfter != Level::object)
    usageError("--save-kernels needs compiled kernels, which --stop-after comes before");
  options.step.batchGroups = parseBatchGroups(args, options.plan);
  checkFiles(options);
}

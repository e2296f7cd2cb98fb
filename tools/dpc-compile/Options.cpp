// Reads the command line of dpc-compile into the options of the pipelines.

#include "tools/dpc-compile/Options.h"

#include "passes/Autodiff/Metrics.h"
#include "passes/Optimize/Optimizer.h"
#include "targets/Objects/ObjectCache.h"
#include "targets/Target.h"
#include "tools/common/CommandLine.h"
#include "tools/common/OptionTable.h"
#include "tools/dpc-compile/ProgramOptions.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <cmath>

using namespace llvm;
using namespace llvm::opt;
using namespace dpc;

[[noreturn]] static void usageError(const Twine &message) {
  errs() << "dpc-compile: error: " << message << "\n";
  exit(exitUsage);
}

/// DxDx.. as extents; `option` names it in messages.
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

static double parseNumber(const Arg &arg, double lowest) {
  double value;
  StringRef text = arg.getValue();
  if (text.getAsDouble(value) || !std::isfinite(value) || value < lowest)
    usageError(arg.getSpelling() + text + " is not a number from " +
               Twine(static_cast<int64_t>(lowest)) + " up");
  return value;
}

/// A number of MiB, at least a byte, as bytes.
static int64_t parseMebibytes(const Arg &arg) {
  double mebibytes = parseNumber(arg, 0);
  if (mebibytes * (1 << 20) < 1 || mebibytes > (1 << 20))
    usageError(arg.getSpelling() + Twine(arg.getValue()) + " is not a number of MiB up to 1048576");
  return mebibytes * (1 << 20);
}

/// A switch, on unless told otherwise; `name` is for messages.
static bool parseSwitch(const InputArgList &args, OptionId id, StringRef name) {
  StringRef value = args.getLastArgValue(id, "on");
  if (value != "on" && value != "off")
    usageError(name + ": '" + value + "' is neither on nor off");
  return value == "on";
}

/// A number of bytes: 1024, 64KiB, 1.5GiB, 80GB, ..
static int64_t parseBytes(const Arg &arg) {
  StringRef text = arg.getValue(), number = text;
  double unit = 1, value;
  for (auto [name, factor] : {std::pair<StringRef, double>{"KiB", 1024.},
                              {"MiB", 1048576.},
                              {"GiB", 1073741824.},
                              {"TiB", 1099511627776.},
                              {"KB", 1e3},
                              {"MB", 1e6},
                              {"GB", 1e9},
                              {"TB", 1e12}})
    if (number.consume_back(name)) {
      number = number.rtrim();
      unit = factor;
      break;
    }
  if (number.getAsDouble(value) || !std::isfinite(value) || value * unit < 1 || value * unit > 9e18)
    usageError(arg.getSpelling() + text +
               " is not a number of bytes, or one with KiB, MiB, GiB, TiB, KB, MB, GB or "
               "TB");
  return value * unit;
}

/// GLOB=AXES,AXES,.. in the form that passes take lists in.
static std::string parseShard(StringRef text) {
  auto [glob, entries] = text.rsplit('=');
  if (glob.empty() || glob.size() == text.size() || entries.empty())
    usageError("--shard: '" + text + "' is not GLOB=AXES,AXES,..");
  std::string request = text.str();
  std::replace(request.begin() + glob.size(), request.end(), ',', ';');
  return request;
}

/// cross-entropy[,label-smoothing=X,ignore-index=N] and its kin.
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

/// NAME[,NAME..]: what evaluation reports beside the loss.
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

/// More devices than anything here has been tried with: tables have a row each.
constexpr int64_t kMaxDevices = 4096;

/// The axes of --mesh that cut the batch: those of --batch-axes, else those that
/// are named `data` and `replica`.
static std::vector<StringRef> parseBatchAxes(const InputArgList &args, ArrayRef<StringRef> mesh) {
  const Arg *arg = args.getLastArg(OPT_batch_axes);
  if (!arg)
    return {"data", "replica"};
  SmallVector<StringRef> names;
  StringRef(arg->getValue()).split(names, ',');
  for (auto [index, name] : llvm::enumerate(names)) {
    if (!llvm::is_contained(mesh, name))
      usageError("--batch-axes: the mesh has no axis '" + name +
                 "'; it has: " + (mesh.empty() ? "none" : join(mesh, ", ")));
    if (llvm::is_contained(ArrayRef(names).take_front(index), name))
      usageError("--batch-axes: axis '" + name + "' is given twice");
  }
  return std::vector<StringRef>(names.begin(), names.end());
}

/// --mesh, --batch-axes and --microbatches: which axes there are, and what each
/// cuts: the batch, or else a loop of each contraction. Microbatches are one
/// more axis, outermost and walked by a loop.
static void parseMesh(const InputArgList &args, PlacedOptions &mesh) {
  if (args.hasArg(OPT_microbatches)) {
    int64_t count = integerOption(args, OPT_microbatches, "dpc-compile", 1, 1);
    mesh.axes.push_back("micro=" + std::to_string(count));
    mesh.sequentialAxes.push_back("micro");
    mesh.batchAxes.push_back("micro");
  }
  SmallVector<StringRef> parts;
  if (const Arg *arg = args.getLastArg(OPT_mesh))
    StringRef(arg->getValue()).split(parts, ',');
  int64_t devices = 1;
  SmallVector<StringRef> names;
  for (StringRef part : parts) {
    auto [name, text] = part.split('=');
    int64_t size;
    if (name.empty() || text.getAsInteger(10, size) || size < 1)
      usageError("--mesh: '" + part + "' is not AXIS=N with N at least 1");
    if (name == "micro")
      usageError("--mesh: use --microbatches=" + text + " for microbatches");
    if (name == "pipe" && size > 1)
      usageError("--mesh: axis pipe is not available yet");
    if (llvm::is_contained(names, name))
      usageError("--mesh: axis '" + name + "' is given twice");
    if (size > kMaxDevices / devices)
      usageError("--mesh=" + args.getLastArgValue(OPT_mesh) + " has more than " +
                 Twine(kMaxDevices) + " devices");
    devices *= size;
    mesh.axes.push_back(part.str());
    names.push_back(name);
  }
  const std::vector<StringRef> batchAxes = parseBatchAxes(args, names);
  for (StringRef name : names)
    (llvm::is_contained(batchAxes, name) ? mesh.batchAxes : mesh.autoAxes).push_back(name.str());
}

/// The devices of --cuda-arch, each once; PTX is for the oldest.
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

/// NVIDIA's assembler, if there is one; whoever names one must have it.
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

/// Fills in what runs the kernels.
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
  // On the host, memory that ranks of one machine share has small pages, unless the system is
  // set otherwise: that costs more time than the bytes are worth (docs/performance.md).
  options.scheduled.oneRegion = isCuda;
  if (isCuda) {
    refuse(OPT_cpu, "--cpu");
    return parseDevices(args, processors, options);
  }
  refuse(OPT_cuda_arch, "--cuda-arch");
  refuse(OPT_ptxas, "--ptxas");
  machine.processor = args.getLastArgValue(OPT_cpu, processors.front()).str();
  if (!is_contained(processors, machine.processor))
    usageError("--cpu: unknown processor '" + machine.processor +
               "'; known: " + join(processors, ", "));
}

static Explain parseExplain(const InputArgList &args) {
  if (const Arg *arg = args.getLastArg(OPT_explain_eq)) {
    if (StringRef(arg->getValue()) != "all")
      usageError("--explain: unknown extent '" + Twine(arg->getValue()) + "'; known: all");
    return Explain::all;
  }
  return args.hasArg(OPT_explain) ? Explain::page : Explain::none;
}

/// --remat=none, auto, full or GLOB,..: what the backward pass computes again.
static void parseRemat(const InputArgList &args, CompileOptions &options) {
  const StringRef text = args.getLastArgValue(OPT_remat, "auto");
  options.scheduled.rematBytes = text == "full" ? -1 : 0;
  options.mayRecompute = text == "auto";
  if (text == "none" || text == "auto")
    return;
  if (!args.hasArg(OPT_optimizer))
    usageError("--remat=" + text +
               " needs --optimizer: a program that infers has no backward pass");
  if (text == "full")
    return;
  SmallVector<StringRef> globs;
  text.split(globs, ',');
  for (StringRef glob : globs) {
    if (glob.empty())
      usageError("--remat: '" + text + "' is neither none, auto or full nor GLOB,.. of nodes");
    options.scheduled.rematNodes.push_back(glob.str());
  }
}

/// What is written, and how code is generated.
static void parseOutput(const InputArgList &args, CompileOptions &options) {
  ScheduledOptions &scheduled = options.scheduled;
  if (const Arg *arg = args.getLastArg(OPT_first_bucket_mib))
    scheduled.firstBucketBytes = parseMebibytes(*arg);
  if (const Arg *arg = args.getLastArg(OPT_bucket_mib))
    scheduled.bucketBytes = parseMebibytes(*arg);
  else
    options.mayShrinkBuckets = true;
  scheduled.overlap = parseSwitch(args, OPT_overlap, "--overlap");
  options.needsCache = args.hasArg(OPT_cache);
  options.cacheFolder = args.getLastArgValue(OPT_cache, ObjectCache::defaultFolder()).str();
  if (options.needsCache && options.cacheFolder.empty())
    usageError("--cache= needs a folder or off");
  if (options.cacheFolder == "off")
    options.cacheFolder.clear();
  scheduled.recompute = parseSwitch(args, OPT_recompute, "--recompute");
  parseRemat(args, options);
  StringRef sums = args.getLastArgValue(OPT_sums, "fast");
  if (sums != "fast" && sums != "ordered")
    usageError("--sums: unknown order '" + sums + "'; known: fast, ordered");
  scheduled.orderedSums = sums == "ordered";
  options.step.verify = options.placed.verify = options.local.verify = scheduled.verify =
      options.exec.verify = parseSwitch(args, OPT_verify_plan, "--verify-plan");
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

/// Whether the loss is of an output and labels that the data brings.
static bool readsLabels(const InputArgList &args) {
  const StringRef loss = args.getLastArgValue(OPT_loss);
  return !loss.empty() && !loss.starts_with("output:");
}

/// How the model is read, and what of it is trained.
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

/// What gradients are rounded to before ranks sum them.
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

/// tf32 is f32 that products read in another way, where a target can.
static void parsePrecision(const InputArgList &args, CompileOptions &options) {
  std::string &type = options.step.precision;
  type = args.getLastArgValue(OPT_precision, "f32").str();
  if (!llvm::is_contained({"f32", "f64", "tf32", "bf16", "f16"}, StringRef(type)))
    usageError("--precision: unknown type '" + type + "'; known: f32, f64, tf32, bf16, f16");
  options.scheduled.tf32 = type == "tf32";
  if (!options.scheduled.tf32)
    return;
  const std::string &target = options.placed.target;
  if (findTarget(target)->getFunctionForm() != FunctionForm::gridTable)
    usageError("--precision=tf32: not a precision of --target=" + target);
  if (options.scheduled.orderedSums)
    usageError("--precision=tf32 and --sums=ordered contradict each other: give one");
  type = "f32";
}

/// Who multiplies matrices, where a target leaves a choice.
static void parseProducts(const InputArgList &args, CompileOptions &options) {
  const Arg *arg = args.getLastArg(OPT_products);
  if (!arg)
    return;
  const StringRef who = arg->getValue();
  std::optional<ProductMaker> maker = llvm::StringSwitch<std::optional<ProductMaker>>(who)
                                          .Case("auto", ProductMaker::bySize)
                                          .Case("library", ProductMaker::library)
                                          .Case("generated", ProductMaker::generated)
                                          .Default(std::nullopt);
  if (!maker)
    usageError("--products: unknown choice '" + who + "'; known: auto, library, generated");
  const std::string &target = options.placed.target;
  if (findTarget(target)->getFunctionForm() != FunctionForm::gridTable)
    usageError("--products: not a choice of --target=" + target);
  if (options.scheduled.orderedSums && *maker == ProductMaker::library)
    usageError("--products=library and --sums=ordered contradict each other: give one");
  options.scheduled.products = *maker;
}

/// Loss and optimizer.
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

/// The axes that divide the batch among ranks.
static std::vector<std::string> findBatchAxes(const PlacedOptions &placed) {
  std::vector<std::string> found;
  for (StringRef axis : placed.axes) {
    auto [name, size] = axis.split('=');
    if (size != "1" && llvm::is_contained(placed.batchAxes, name) &&
        !llvm::is_contained(placed.sequentialAxes, name))
      found.push_back(name.str());
  }
  return found;
}

/// --zero=STAGE[:AXIS]: which state is divided, and over which axes: those of the batch,
/// or the one that is named.
static void parseZero(const InputArgList &args, CompileOptions &options) {
  const PlacedOptions &placed = options.placed;
  ScheduledOptions &scheduled = options.scheduled;
  const Arg *arg = args.getLastArg(OPT_zero);
  const Arg *keep = args.getLastArg(OPT_zero_keep);
  if (keep)
    scheduled.zeroKeepBytes = parseBytes(*keep);
  if (!arg && keep)
    usageError("--zero-keep needs --zero=3: only parameters that are cut can be kept");
  const std::vector<std::string> batchAxes = findBatchAxes(placed);
  if (!arg) {
    options.axesToDivide = batchAxes;
    return;
  }
  const StringRef text = arg->getValue();
  auto [number, name] = text.split(':');
  int64_t stage;
  if (number.getAsInteger(10, stage) || stage < 0 || stage > 3 ||
      (name.empty() && text.contains(':')))
    usageError("--zero: '" + text + "' is not a stage from 0 to 3, or STAGE:AXIS");
  scheduled.zeroStage = stage;
  if (keep && stage < 3)
    usageError("--zero-keep needs --zero=3, not --zero=" + text +
               ": only parameters that are cut can be kept");
  SmallVector<StringRef> known;
  for (StringRef axis : placed.axes)
    if (!llvm::is_contained(placed.sequentialAxes, axis.split('=').first))
      known.push_back(axis.split('=').first);
  if (!name.empty() && !llvm::is_contained(known, name))
    usageError("--zero=" + text + ": the mesh has no axis '" + name +
               "'; it has: " + (known.empty() ? "none" : join(known, ", ")));
  scheduled.zeroAxes = name.empty() ? batchAxes : std::vector<std::string>{name.str()};
  if (stage > 0 && scheduled.zeroAxes.empty())
    usageError("--zero=" + text +
               " has no axis to divide over: the mesh has none that cuts the "
               "batch (--mesh=data=N, or --zero=" +
               number + ":AXIS)");
  if (!args.hasArg(OPT_optimizer) && (stage == 1 || stage == 2))
    usageError("--zero=" + text +
               " needs --optimizer: a program that infers has parameters alone "
               "to divide (--zero=3)");
}

/// Groups of samples that batch normalisation treats apart on the mesh.
static int64_t parseBatchGroups(const InputArgList &args, const PlacedOptions &placed) {
  StringRef mode = args.getLastArgValue(OPT_batch_norm, "global");
  if (mode != "global" && mode != "local")
    usageError("--batch-norm: unknown mode '" + mode + "'; known: global, local");
  int64_t groups = 1;
  for (const std::string &axis : placed.axes) {
    auto [name, text] = StringRef(axis).split('=');
    int64_t size = 1;
    text.getAsInteger(10, size);
    if (llvm::is_contained(placed.sequentialAxes, name) ||
        (mode == "local" && llvm::is_contained(placed.batchAxes, name)))
      groups *= size;
  }
  return groups;
}

/// Whether two paths are one file, or would be.
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

/// What is written must not take the place of the model, nor of something else
/// that is written.
static void checkFiles(const CompileOptions &options) {
  SmallVector<std::pair<StringRef, StringRef>> written;
  if (options.output != "-")
    written.push_back({"-o", options.output});
  if (options.params != "embed" && options.params != "none")
    written.push_back({"--params", options.params});
  for (const auto &[option, path] : written)
    if (!path.empty() && isSameFile(path, options.model)) {
      errs() << "dpc-compile: error: " << option << ": " << path << " is the model\n";
      exit(exitInvalid);
    }
  if (written.size() == 2 && isSameFile(written[0].second, written[1].second)) {
    errs() << "dpc-compile: error: -o and --params both write " << written[0].second << "\n";
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
  parsePrecision(args, options);
  parseGradReduce(args, options);
  parseProducts(args, options);
  options.import.trains = !options.step.loss.empty();
  options.import.skipsValues = options.params == "none";
  // A program that infers, or trains the graph as it is, has the file's types unless others
  // are asked for.
  options.import.widensHalves =
      args.hasArg(OPT_precision) || (options.import.trains && !options.import.asExported);
  parseMesh(args, options.placed);
  for (const std::string &text : args.getAllArgValues(OPT_shard))
    options.placed.shards.push_back(parseShard(text));
  if (const Arg *arg = args.getLastArg(OPT_device_memory))
    options.scheduled.capacityBytes = parseBytes(*arg);
  if (const Arg *arg = args.getLastArg(OPT_fail_on_reshard))
    options.mostReshardBytes = parseBytes(*arg);
  options.placed.explain = options.explain == Explain::all;
  options.scheduled.explain = options.explain == Explain::all;
  options.step.batchGroups = parseBatchGroups(args, options.placed);
  parseZero(args, options);
  checkFiles(options);
}

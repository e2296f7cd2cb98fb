// Converts the options that choose a plan to a plan, and a plan back to options.

#include "tools/dpc-compile/PlanOptions.h"

#include "targets/Target.h"
#include "tools/common/CommandLine.h"
#include "tools/common/OptionIds.h"
#include "tools/dpc-compile/OptionValues.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace llvm::opt;
using namespace dpc;

//===----------------------------------------------------------------------===//
// Mesh and layouts
//===----------------------------------------------------------------------===//

/// The most devices that a mesh may have. Larger meshes were never tried, and some tables of a
/// program have one row per device.
constexpr int64_t kMaxDevices = 4096;

/// The names of axes that cut the batch if --batch-axes is not given.
static constexpr StringLiteral kDefaultBatchAxes[] = {"data", "replica"};

/// Marks the axes of `mesh` that cut the batch: those that --batch-axes names. If the option is
/// not given, marks the axes that are named `data` and `replica`.
static void parseBatchAxes(const InputArgList &args, std::vector<PlanAxis> &mesh) {
  const Arg *arg = args.getLastArg(OPT_batch_axes);
  if (!arg) {
    for (PlanAxis &axis : mesh)
      axis.cutsBatch = is_contained(kDefaultBatchAxes, axis.name);
    return;
  }
  SmallVector<StringRef> names;
  StringRef(arg->getValue()).split(names, ',');
  for (StringRef name : names) {
    auto axis = find_if(mesh, [&](const PlanAxis &axis) { return axis.name == name; });
    if (axis == mesh.end()) {
      std::vector<std::string> known;
      for (const PlanAxis &each : mesh)
        known.push_back(each.name);
      usageError("--batch-axes: the mesh has no axis '" + name +
                 "'; it has: " + (known.empty() ? "none" : join(known, ", ")));
    }
    if (axis->cutsBatch)
      usageError("--batch-axes: axis '" + name + "' is given twice");
    if (name == kPipeAxis)
      usageError("--batch-axes: the axis " + name +
                 " runs the stages of a pipeline, it cuts no batch");
    axis->cutsBatch = true;
  }
}

/// Parses --mesh, --batch-axes and --microbatches.
static void parseMesh(const InputArgList &args, ProgramPlan &plan) {
  if (args.hasArg(OPT_microbatches))
    plan.microbatches = integerOption(args, OPT_microbatches, "dpc-compile", 1, 1);
  SmallVector<StringRef> parts;
  if (const Arg *arg = args.getLastArg(OPT_mesh))
    StringRef(arg->getValue()).split(parts, ',');
  int64_t devices = 1;
  for (StringRef part : parts) {
    auto [name, text] = part.split('=');
    int64_t size;
    if (name.empty() || text.getAsInteger(10, size) || size < 1)
      usageError("--mesh: '" + part + "' is not AXIS=N with N at least 1");
    if (name == "micro")
      usageError("--mesh: use --microbatches=" + text + " for microbatches");
    if (any_of(plan.mesh, [&, name = name](const PlanAxis &axis) { return axis.name == name; }))
      usageError("--mesh: axis '" + name + "' is given twice");
    if (size > kMaxDevices / devices)
      usageError("--mesh=" + args.getLastArgValue(OPT_mesh) + " has more than " +
                 Twine(kMaxDevices) + " devices");
    devices *= size;
    plan.mesh.push_back({name.str(), size});
  }
  parseBatchAxes(args, plan.mesh);
}

/// Parses --cut-memory and --schedule-memory.
static void parseStageMemory(const InputArgList &args, ProgramPlan &plan) {
  if (const Arg *arg = args.getLastArg(OPT_cut_memory)) {
    if (!plan.cutNodes.empty())
      usageError(arg->getAsString(args) + " does not go with --stages, which says where to cut");
    plan.cutBytes = parseBytes(*arg);
  }
  const Arg *arg = args.getLastArg(OPT_schedule_memory);
  if (!arg)
    return;
  SmallVector<StringRef> sizes;
  StringRef(arg->getValue()).split(sizes, ',');
  if (int64_t(sizes.size()) != plan.stages())
    usageError(arg->getAsString(args) + " has " + Twine(sizes.size()) + " sizes for " +
               Twine(plan.stages()) + " stages");
  for (StringRef size : sizes) {
    std::optional<int64_t> bytes = size == "0" ? 0 : parseBytes(size);
    if (!bytes)
      usageError(arg->getAsString(args) + ": '" + size + "' is not a size such as 2GiB");
    plan.scheduleBytes.push_back(*bytes);
  }
}

/// Parses --schedule, --chunks and --stages.
static void parsePipeline(const InputArgList &args, ProgramPlan &plan) {
  const Arg *arg = args.getLastArg(OPT_schedule);
  if (arg) {
    std::optional<ScheduleKind> kind = parseSchedule(arg->getValue());
    if (!kind)
      usageError("--schedule: unknown schedule '" + StringRef(arg->getValue()) +
                 "'; known: gpipe, 1f1b, interleaved, zero-bubble");
    plan.schedule = *kind;
  }
  const StringRef name = nameOf(plan.schedule);
  const bool isInterleaved = plan.schedule == ScheduleKind::interleaved;
  plan.chunksPerStage = integerOption(args, OPT_chunks, "dpc-compile", isInterleaved ? 2 : 1, 1);
  for (OptSpecifier option : {OPT_schedule, OPT_chunks, OPT_stages, OPT_cut_memory,
                              OPT_schedule_memory, OPT_schedule_svg})
    if (const Arg *given = args.getLastArg(option); given && plan.stages() == 1)
      usageError(given->getAsString(args) + " needs a pipeline: --mesh=pipe=P, with P at least 2");
  const int64_t chunks = plan.chunksPerStage;
  if (chunks > 1 && (plan.schedule == ScheduleKind::gpipe ||
                     plan.schedule == ScheduleKind::oneForwardOneBackward))
    usageError("--chunks=" + Twine(chunks) + ": a stage of --schedule=" + name +
               " runs one chunk; interleaved and zero-bubble can run several");
  if (chunks > 2 && plan.schedule == ScheduleKind::zeroBubble)
    usageError("--chunks=" + Twine(chunks) + ": a stage of --schedule=" + name +
               " runs 1 or 2 chunks");
  if (const Arg *given = args.getLastArg(OPT_stages)) {
    SmallVector<StringRef> globs;
    StringRef(given->getValue()).split(globs, ',');
    plan.cutNodes.assign(globs.begin(), globs.end());
    const int64_t needed = plan.stages() * chunks - 1;
    if (int64_t(globs.size()) != needed)
      usageError(given->getAsString(args) + ": names " + Twine(globs.size()) + " nodes, but " +
                 Twine(plan.stages()) + " stages with " + Twine(chunks) +
                 " parts of the model each need " + Twine(needed) +
                 ": one for each part but the first");
  }
  parseStageMemory(args, plan);
  const int64_t microbatches = std::max<int64_t>(plan.microbatches, 1);
  if (isInterleaved && microbatches % plan.stages())
    usageError("--schedule=" + name + " with --chunks=" + Twine(chunks) +
               ": the number of microbatches is " + Twine(microbatches) +
               ", but must be a multiple of the " + Twine(plan.stages()) + " stages");
}

/// Returns GLOB=AXES,AXES,.. with `;` instead of `,` between dimensions, because commas separate
/// the elements of a pass's list option.
static std::string parseShard(StringRef text) {
  auto [glob, entries] = text.rsplit('=');
  if (glob.empty() || glob.size() == text.size() || entries.empty())
    usageError("--shard: '" + text + "' is not GLOB=AXES,AXES,..");
  SmallVector<StringRef> axes;
  SplitString(entries, axes, ",+");
  if (is_contained(axes, kPipeAxis))
    usageError("--shard: '" + text + "': the axis " + kPipeAxis +
               " runs the stages of a pipeline, it cuts no tensor");
  std::string request = text.str();
  std::replace(request.begin() + glob.size(), request.end(), ',', ';');
  return request;
}

//===----------------------------------------------------------------------===//
// State and memory
//===----------------------------------------------------------------------===//

/// Returns the axes that divide the batch among ranks.
static std::vector<std::string> findBatchAxes(const ProgramPlan &plan) {
  std::vector<std::string> found;
  for (const PlanAxis &axis : plan.mesh)
    if (axis.size > 1 && axis.cutsBatch)
      found.push_back(axis.name);
  return found;
}

/// Parses --zero=STAGE[:AXIS]: the stage says which state is divided. The state is divided over
/// AXIS or, if none is named, over the axes of the batch.
static void parseZero(const InputArgList &args, CompileOptions &options) {
  ProgramPlan &plan = options.plan;
  const Arg *keep = args.getLastArg(OPT_zero_keep);
  if (keep)
    plan.zero.keptBytes = parseBytes(*keep);
  if (!args.hasArg(OPT_zero) && keep)
    usageError("--zero-keep needs --zero=3: only parameters that are cut can be kept");
  const std::vector<std::string> batchAxes = findBatchAxes(plan);
  const StringRef text = args.getLastArgValue(OPT_zero, "auto");
  auto [number, name] = text.split(':');
  int64_t stage = -1;
  if (text != "auto" && (number.getAsInteger(10, stage) || stage < 0 || stage > 3 ||
                         (name.empty() && text.contains(':'))))
    usageError("--zero: '" + text + "' is not a stage from 0 to 3, or STAGE:AXIS, or auto");
  plan.zero.stage = static_cast<ZeroStage>(stage);
  if (keep && stage < 3)
    usageError("--zero-keep needs --zero=3, not --zero=" + text +
               ": only parameters that are cut can be kept");
  if (plan.zero.stage == ZeroStage::automatic) {
    options.axesToDivide = batchAxes;
    return;
  }
  std::vector<std::string> known;
  for (const PlanAxis &axis : plan.mesh)
    known.push_back(axis.name);
  if (!name.empty() && !is_contained(known, name))
    usageError("--zero=" + text + ": the mesh has no axis '" + name +
               "'; it has: " + (known.empty() ? "none" : join(known, ", ")));
  if (name == kPipeAxis)
    usageError("--zero=" + text + ": the axis " + name +
               " runs the stages of a pipeline, it divides no state");
  plan.zero.axes = name.empty() ? batchAxes : std::vector<std::string>{name.str()};
  if (stage > 0 && plan.zero.axes.empty())
    usageError("--zero=" + text +
               " has no axis to divide over: the mesh has none that cuts the "
               "batch (--mesh=data=N, or --zero=" +
               number + ":AXIS)");
  if (!args.hasArg(OPT_optimizer) && (stage == 1 || stage == 2))
    usageError("--zero=" + text +
               " needs --optimizer: a program that infers has parameters alone "
               "to divide (--zero=3)");
}

/// Parses the stages in front of a value of --remat, e.g. "0+2:full", and returns the rest of the
/// value.
static StringRef parseRematStages(StringRef text, ProgramPlan &plan) {
  auto [list, rest] = text.split(':');
  if (list.size() == text.size() || list.empty() ||
      list.find_first_not_of("0123456789+") != StringRef::npos)
    return text;
  SmallVector<StringRef> numbers;
  list.split(numbers, '+');
  for (StringRef number : numbers) {
    int64_t stage;
    if (number.getAsInteger(10, stage) || stage >= plan.stages())
      usageError("--remat: '" + number + "' is none of the " + Twine(plan.stages()) + " stages");
    plan.remat.stages.push_back(stage);
  }
  llvm::sort(plan.remat.stages);
  return rest;
}

/// Parses --remat=none, auto, full, SIZE or GLOB,..: the values that the backward pass computes
/// again.
static void parseRemat(const InputArgList &args, CompileOptions &options) {
  RematChoice &remat = options.plan.remat;
  const StringRef text = parseRematStages(args.getLastArgValue(OPT_remat, "auto"), options.plan);
  if ((text == "none" || text == "auto") && !remat.stages.empty())
    usageError("--remat: stages do not go with " + text);
  options.mayRecompute = text == "auto";
  if (text == "none" || text == "auto")
    return;
  if (!args.hasArg(OPT_optimizer))
    usageError("--remat=" + text +
               " needs --optimizer: a program that infers has no backward pass");
  if (text == "full") {
    remat.savedBytes = RematChoice::all;
    return;
  }
  if (std::optional<int64_t> bytes = parseBytes(text)) {
    remat.savedBytes = *bytes;
    return;
  }
  SmallVector<StringRef> globs;
  text.split(globs, ',');
  for (StringRef glob : globs) {
    if (glob.empty())
      usageError("--remat: '" + text +
                 "' is neither none, auto, full or SIZE nor GLOB,.. of nodes");
    remat.nodes.push_back(glob.str());
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Parses --sums, the order in which sums add their terms.
static void parseSums(const InputArgList &args, KernelChoices &kernels) {
  StringRef sums = args.getLastArgValue(OPT_sums, "fast");
  if (sums != "fast" && sums != "ordered")
    usageError("--sums: unknown order '" + sums + "'; known: fast, ordered");
  kernels.orderedSums = sums == "ordered";
}

/// Parses --precision=tf32 and --precision=tf32x3: how products of f32 multiply their factors.
/// Refuses tf32 if the target has no such products. tf32x3 asks for the precision of f32 at least,
/// so it leaves f32 to such targets.
static void parseFactors(const InputArgList &args, StringRef target, KernelChoices &kernels) {
  const StringRef name = args.getLastArgValue(OPT_precision);
  const FactorForm form = parseFactorForm(name).value_or(FactorForm::whole);
  const bool hasUnits = findTarget(target)->getFunctionForm() == FunctionForm::gridTable;
  if (form == FactorForm::whole || (form == FactorForm::split && !hasUnits))
    return;
  if (!hasUnits)
    usageError("--precision=" + name + ": not a precision of --target=" + target);
  if (kernels.orderedSums)
    usageError("--precision=" + name + " and --sums=ordered contradict each other: give one");
  kernels.factors = form;
}

/// Parses --products: whether a library or generated kernels multiply matrices. Refuses the
/// option if the target has no such library.
static void parseProducts(const InputArgList &args, StringRef target, KernelChoices &kernels) {
  const Arg *arg = args.getLastArg(OPT_products);
  if (!arg)
    return;
  const StringRef who = arg->getValue();
  std::optional<ProductMaker> maker = parseProductMaker(who);
  if (!maker)
    usageError("--products: unknown choice '" + who + "'; known: auto, library, generated");
  if (findTarget(target)->getFunctionForm() != FunctionForm::gridTable)
    usageError("--products: not a choice of --target=" + target);
  if (kernels.orderedSums && *maker == ProductMaker::library)
    usageError("--products=library and --sums=ordered contradict each other: give one");
  if (kernels.factors == FactorForm::split && *maker == ProductMaker::library)
    usageError("--products=library and --precision=tf32x3 contradict each other: give one");
  kernels.products = *maker;
}

void dpc::parsePlan(const InputArgList &args, CompileOptions &options) {
  ProgramPlan &plan = options.plan;
  parseMesh(args, plan);
  parsePipeline(args, plan);
  for (const std::string &text : args.getAllArgValues(OPT_shard))
    plan.layouts.push_back(parseShard(text));
  if (const Arg *arg = args.getLastArg(OPT_first_bucket_mib))
    plan.buckets.first = parseMebibytes(*arg);
  if (const Arg *arg = args.getLastArg(OPT_bucket_mib))
    plan.buckets.later = parseMebibytes(*arg);
  else
    options.mayShrinkBuckets = true;
  options.mayChooseBuckets = !args.hasArg(OPT_first_bucket_mib, OPT_bucket_mib);
  if (const Arg *arg = args.getLastArg(OPT_device_memory))
    plan.deviceBytes = parseBytes(*arg);
  plan.overlap = parseSwitch(args, OPT_overlap, "--overlap");
  parseRemat(args, options);
  parseZero(args, options);
  plan.kernels.recompute = parseSwitch(args, OPT_recompute, "--recompute");
  parseSums(args, plan.kernels);
  parseFactors(args, options.placed.target, plan.kernels);
  parseProducts(args, options.placed.target, plan.kernels);
}

//===----------------------------------------------------------------------===//
// Back to options
//===----------------------------------------------------------------------===//

namespace {
/// Options of a command line, quoted for a shell.
class OptionText {
public:
  explicit OptionText(std::string text) : text(std::move(text)) {}

  void add(StringRef name, const Twine &value) { add((name + "=" + value).str()); }

  void add(const std::string &option) {
    text += text.empty() ? "" : " ";
    if (StringRef(option).find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789-_=.,:+/@%") == StringRef::npos) {
      text += option;
      return;
    }
    text += "'";
    for (char c : option)
      text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += "'";
  }

  std::string text;
};
} // namespace

/// Returns a number of MiB that parseMebibytes converts to exactly `bytes`.
static std::string mebibytesText(int64_t bytes) {
  return bytes % (1 << 20) == 0 ? std::to_string(bytes >> 20)
                                : formatv("{0:f20}", double(bytes) / (1 << 20)).str();
}

static std::string listText(ArrayRef<int64_t> numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

static void describeMesh(const ProgramPlan &plan, OptionText &options) {
  std::vector<std::string> axes, batchAxes;
  bool isDefault = true;
  for (const PlanAxis &axis : plan.mesh) {
    axes.push_back(axis.name + "=" + std::to_string(axis.size));
    if (axis.cutsBatch)
      batchAxes.push_back(axis.name);
    isDefault &= axis.cutsBatch == is_contained(kDefaultBatchAxes, axis.name);
  }
  if (!axes.empty())
    options.add("--mesh", join(axes, ","));
  if (!isDefault)
    options.add("--batch-axes", join(batchAxes, ","));
  if (plan.microbatches > 0)
    options.add("--microbatches", Twine(plan.microbatches));
  if (plan.stages() > 1)
    options.add("--schedule", nameOf(plan.schedule));
  if (plan.chunksPerStage > 1)
    options.add("--chunks", Twine(plan.chunksPerStage));
  if (!plan.cutNodes.empty())
    options.add("--stages", join(plan.cutNodes, ","));
  if (plan.cutBytes > 0)
    options.add("--cut-memory", Twine(plan.cutBytes));
  if (!plan.scheduleBytes.empty())
    options.add("--schedule-memory", listText(plan.scheduleBytes));
  for (StringRef layout : plan.layouts) {
    auto [glob, entries] = layout.rsplit('=');
    std::string axes = entries.str();
    std::replace(axes.begin(), axes.end(), ';', ',');
    options.add("--shard", glob + "=" + axes);
  }
}

static void describeZero(const ProgramPlan &plan, OptionText &options) {
  std::string stage = "auto";
  if (plan.zero.stage != ZeroStage::automatic)
    stage = std::to_string(static_cast<int64_t>(plan.zero.stage));
  if (!plan.zero.axes.empty() && plan.zero.axes != findBatchAxes(plan))
    stage += ":" + join(plan.zero.axes, "+");
  options.add("--zero", stage);
  if (plan.zero.keptBytes > 0)
    options.add("--zero-keep", Twine(plan.zero.keptBytes));
}

static std::string rematText(const RematChoice &remat) {
  if (remat.isNone())
    return "none";
  std::string stages;
  for (int64_t stage : remat.stages)
    stages += (stages.empty() ? "" : "+") + std::to_string(stage);
  if (!stages.empty())
    stages += ":";
  if (remat.savedBytes == RematChoice::all)
    return stages + "full";
  return stages +
         (remat.savedBytes != 0 ? std::to_string(remat.savedBytes) : join(remat.nodes, ","));
}

std::vector<std::string> dpc::findOtherWords(const InputArgList &args) {
  // The options of describeCommand(), and those that only ask for reports.
  static const OptSpecifier others[] = {OPT_mesh,          OPT_batch_axes,
                                        OPT_microbatches,  OPT_shard,
                                        OPT_zero,          OPT_zero_keep,
                                        OPT_schedule,      OPT_chunks,
                                        OPT_cut_memory,    OPT_schedule_memory,
                                        OPT_stages,        OPT_remat,
                                        OPT_device_memory, OPT_first_bucket_mib,
                                        OPT_bucket_mib,    OPT_overlap,
                                        OPT_recompute,     OPT_sums,
                                        OPT_products,      OPT_explain,
                                        OPT_explain_eq,    OPT_report,
                                        OPT_schedule_svg,  OPT_tune,
                                        OPT_slow,          OPT_slow_link,
                                        OPT_save_kernels};
  std::vector<std::string> words;
  for (const Arg *arg : args)
    if (none_of(others, [&](OptSpecifier option) { return arg->getOption().matches(option); })) {
      ArgStringList own;
      arg->render(args, own);
      words.insert(words.end(), own.begin(), own.end());
    }
  return words;
}

std::string dpc::describeCommand(const CompileOptions &all, bool isOnDevice) {
  const ProgramPlan &plan = all.plan;
  OptionText options("dpc-compile");
  for (const std::string &word : all.otherWords)
    options.add(word);
  describeMesh(plan, options);
  describeZero(plan, options);
  options.add("--remat", rematText(plan.remat));
  options.add("--first-bucket-mib", mebibytesText(plan.buckets.first));
  options.add("--bucket-mib", mebibytesText(plan.buckets.later));
  options.add("--overlap", plan.overlap ? "on" : "off");
  if (plan.deviceBytes > 0)
    options.add("--device-memory", Twine(plan.deviceBytes));
  options.add("--recompute", plan.kernels.recompute ? "on" : "off");
  options.add("--sums", plan.kernels.orderedSums ? "ordered" : "fast");
  if (isOnDevice)
    options.add("--products", nameOf(plan.kernels.products));
  return options.text;
}

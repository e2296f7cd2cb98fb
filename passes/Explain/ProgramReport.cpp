// Reports the decisions of passes, from the attributes that the passes left on the module.

#include "passes/Explain/ProgramReport.h"

#include "passes/Explain/Boundary.h"
#include "passes/Explain/LaunchReport.h"
#include "passes/Explain/Names.h"
#include "passes/Explain/PipelineReport.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/MeshGroups.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "passes/Prices/OpPrices.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

//===----------------------------------------------------------------------===//
// Loss and optimizer
//===----------------------------------------------------------------------===//

std::optional<std::string> dpc::describeLoss(ModuleOp module) {
  auto loss = module->getAttrOfType<nn::LossAttr>(nn::NNDialect::kLossAttrName);
  if (!loss)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "loss " << loss.getKind() << " of output '" << loss.getOutput() << "', "
     << typeText(loss.getType());
  if (loss.getClassAxis() >= 0)
    os << ", " << loss.getType().getDimSize(loss.getClassAxis()) << " classes along axis "
       << loss.getClassAxis();
  const std::vector<BoundaryTensor> tensors = boundaryOf(module);
  for (const BoundaryTensor &tensor : tensors)
    if (tensor.isLabel)
      os << ", labels " << typeText(tensor.type);
  auto counting = llvm::find_if(tensors, [](const BoundaryTensor &tensor) {
    return tensor.isInput() && !tensor.isLabel && tensor.batch >= 0;
  });
  if (counting != tensors.end())
    os << ", samples along dimension " << counting->batch << " of '" << counting->name << "', "
       << typeText(counting->type);
  return text;
}

static void addTraining(ExplainReport &report, ModuleOp module) {
  if (std::optional<std::string> loss = describeLoss(module))
    report.add("loss").lines.push_back(*loss);
  auto optimizer = module->getAttrOfType<nn::OptimizerAttr>(nn::NNDialect::kOptimizerAttrName);
  auto rate = module->getAttrOfType<nn::LearningRateAttr>(nn::NNDialect::kLearningRateAttrName);
  if (!optimizer || !rate)
    return;
  ReportSection &section = report.add("optimizer");
  std::string line = optimizer.getName().str();
  llvm::raw_string_ostream os(line);
  for (NamedAttribute option : optimizer.getOptions())
    os << ", " << option.getName().getValue() << '='
       << llvm::format("%g", cast<FloatAttr>(option.getValue()).getValueAsDouble());
  section.lines.push_back(line);
  line = "learning rate ";
  os << nn::stringifyDecayKind(rate.getDecay());
  if (rate.getWarmup())
    os << ", warm-up over " << rate.getWarmup() << " steps";
  if (rate.getWarmupPpm())
    os << ", warm-up over " << llvm::format("%g", rate.getWarmupPpm() / 1e4)
       << "% of the run's steps";
  if (rate.getDecay() != nn::DecayKind::constant) {
    os << ", down to " << llvm::format("%g", rate.getMinimum().getValueAsDouble());
    if (rate.getTotal())
      os << " at step " << rate.getTotal();
    else
      os << " at the run's last step";
  }
  section.lines.push_back(line);
  for (auto group : optimizer.getGroups().getAsValueRange<StringAttr>())
    section.lines.push_back("group " + group.str());
}

//===----------------------------------------------------------------------===//
// Inputs, outputs, layout
//===----------------------------------------------------------------------===//

static void addModel(ExplainReport &report, ArrayRef<BoundaryTensor> tensors) {
  ReportSection &section = report.add("inputs and outputs");
  section.columns = {"", "name", "type", "samples"};
  for (const BoundaryTensor &tensor : tensors)
    if (tensor.isInput() || tensor.isOutput)
      section.addRow({tensor.isLabel    ? "label"
                      : tensor.isOutput ? "output"
                                        : "input",
                      tensor.name, typeText(tensor.type),
                      tensor.batch < 0 ? "none" : "dimension " + std::to_string(tensor.batch)});
}

static void addLayout(ExplainReport &report, const dist::MeshShape &mesh,
                      ArrayRef<BoundaryTensor> tensors) {
  struct Group {
    std::string name; // the tensor's name; if count > 1, a pattern of the names
    std::string kind, type, layout;
    int64_t count = 0, elements = 0, bytes = 0;
  };
  std::map<std::string, size_t> positions;
  std::vector<Group> groups;
  int64_t largest = 0;
  for (const BoundaryTensor &tensor : tensors) {
    if (!tensor.isState())
      continue;
    // Only the ranks of the stages that read a state hold it.
    const bool hasStages = mesh.axisSize(dist::kPipeAxis) > 1;
    Group group{tensor.name, kindText(tensor.kind).str(), typeText(tensor.type),
                tensor.layoutText() + (hasStages ? ", on its stage" : "")};
    std::string pattern = withoutNumbers(tensor.name);
    auto [at, isNew] = positions.try_emplace(
        llvm::join_items("\n", group.kind, pattern, group.type, group.layout), groups.size());
    if (isNew)
      groups.push_back(group);
    else
      groups[at->second].name = pattern;
    Group &entry = groups[at->second];
    ++entry.count;
    entry.elements += tensor.type.getNumElements();
    entry.bytes += tensor.bytesOfRank;
    largest = std::max(largest, entry.bytes);
  }
  // The groups with the most bytes come first. Groups of equal size stay in program order.
  llvm::stable_sort(groups, [](const Group &a, const Group &b) { return a.bytes > b.bytes; });
  ReportSection &section = report.add("layout");
  section.mostRows = 12; // the largest ones
  std::string line;
  for (const dist::MeshAxis &axis : mesh.axes)
    line += (line.empty() ? "mesh " : ", ") + axis.name + "=" + std::to_string(axis.size) +
            (axis.sequential ? " (one after the other)" : "");
  section.lines.push_back(line.empty() ? "one device" : line);
  section.columns = {"state", "what", ">tensors", "each", ">elements", "layout", ">of a rank"};
  for (const Group &group : groups)
    section.addRow({group.name, group.kind, std::to_string(group.count), group.type,
                    countText(group.elements), group.layout, bytesText(group.bytes)});
}

//===----------------------------------------------------------------------===//
// Communication and memory
//===----------------------------------------------------------------------===//

static StringRef causeText(Purpose purpose) {
  switch (purpose) {
  case Purpose::activations:
    return "activations and their gradients";
  case Purpose::gradients:
    return "gradients of parameters";
  case Purpose::parameters:
    return "parameters after their update";
  case Purpose::gathered:
    return "parameters before they are read";
  case Purpose::metrics:
    return "losses, counts, norms";
  }
  return "";
}

/// Returns `title`, and the stage of `module` if it is the module of one.
static std::string titleOf(ModuleOp module, const Twine &title) {
  const std::optional<int64_t> stage = dist::stageOf(module);
  return (stage ? title + ", stage " + Twine(*stage) : title).str();
}

static void addCommunication(ExplainReport &report, ModuleOp module, const dist::MeshShape &mesh) {
  struct Sum {
    int64_t count = 0, bytes = 0;
    double seconds = 0;
  };
  FailureOr<MeshPrices> prices = dist::getMeshPrices(module);
  if (failed(prices))
    return;
  for (auto entry : module.getOps<EntryOp>()) {
    // Rows are in the order of purposes, then of operations: collectives before messages.
    std::map<std::tuple<Purpose, int64_t, std::string, std::string>, Sum> sums;
    auto add = [&](Operation *start, int64_t position, StringRef kind, ArrayRef<StringRef> axes,
                   const Price &price) {
      auto attr = start->getAttrOfType<PurposeAttr>(ExecDialect::kPurposeAttrName);
      int64_t iterations = 1;
      for (Operation *at = start->getParentOp(); at != module; at = at->getParentOp())
        if (auto loop = dyn_cast<LoopOp>(at))
          iterations *= loop.getCount();
        else if (auto routine = dyn_cast<RoutineOp>(at))
          iterations *= routine.getCount();
      Sum &sum = sums[{attr ? attr.getValue() : Purpose::activations, position, kind.str(),
                       llvm::join(axes, "+")}];
      sum.count += iterations;
      sum.bytes += iterations * int64_t(price.bytes);
      sum.seconds += iterations * price.seconds;
    };
    auto addCollective = [&](StartOp start) {
      SmallVector<StringRef> axes(start.getAxes().getAsValueRange<StringAttr>());
      const CollectiveKind kind = priceKindOf(start.getKind());
      const int64_t bytes = std::max(bufferBytes(start.getInput().getType()),
                                     bufferBytes(start.getOutput().getType()));
      add(start, int64_t(start.getKind()), dist::stringifyCollective(start.getKind()), axes,
          start.getMembers() ? prices->collective(kind, bytes, axes.front(), *start.getMembers())
                             : prices->collective(kind, bytes, axes));
    };
    entry.walk(addCollective);
    for (auto routine : module.getOps<RoutineOp>())
      if (routine.getEntry() == entry.getSymName())
        routine.walk(addCollective);
    entry.walk([&](StartSendOp send) {
      const StringRef axes[] = {send.getAxis()};
      add(send, dist::getMaxEnumValForCollective() + 1 + int64_t(send.getPeer()),
          "send to stage " + std::to_string(send.getPeer()), axes,
          prices->message(bufferBytes(send.getBuffer().getType()), send.getAxis()));
    });
    if (sums.empty() && dist::stageOf(module))
      continue;
    ReportSection &section =
        report.add(titleOf(module, "communication of one " + entry.getSymName()));
    section.columns = {"for", "collective", "over", ">times", ">a rank sends", ">ms (model)"};
    for (const auto &[key, sum] : sums) {
      const auto &[purpose, position, kind, axes] = key;
      std::string milliseconds;
      llvm::raw_string_ostream(milliseconds) << llvm::format("%.3f", sum.seconds * 1e3);
      section.addRow({causeText(purpose).str(), kind, axes, std::to_string(sum.count),
                      bytesText(sum.bytes), milliseconds});
    }
  }
}

static void addMemory(ExplainReport &report, ModuleOp module) {
  auto use = module->getAttrOfType<MemoryUseAttr>(ExecDialect::kMemoryUseAttrName);
  auto memory = module->getAttrOfType<MemoryAttr>(ExecDialect::kMemoryAttrName);
  if (!use || !memory)
    return;
  ReportSection &section = report.add(titleOf(module, "memory of a rank"));
  section.columns = {"what", ">bytes"};
  for (auto [what, bytes] : {std::pair("parameters", use.getParameters()),
                             {"optimizer state", use.getOptimizer()},
                             {"buffers and frozen values", use.getBuffers()},
                             {"inputs, labels, outputs, metrics", use.getData()},
                             {"gradients", use.getGradients()},
                             {"gathered parameters", use.getGathered()},
                             {"activations", use.getActivations()},
                             {"gaps", use.getGaps()},
                             {"together", memory.getPeak()}})
    if (bytes) // a row of zeros says nothing
      section.addRow({what, bytesText(bytes)});
  if (auto live = module->getAttrOfType<LiveBytesAttr>(ExecDialect::kLiveBytesAttrName);
      live && live.getAfterForward())
    section.addRow({"live at the end of the forward pass", bytesText(live.getAfterForward())});
}

void dpc::addProgram(ExplainReport &report, ModuleOp module, const ReshardTable *reshards) {
  std::vector<BoundaryTensor> tensors = boundaryOf(module);
  addModel(report, tensors);
  addTraining(report, module);
  const dist::MeshShape mesh = dist::getMeshShape(module);
  addLayout(report, mesh, tensors);
  addPipeline(report, module);
  if (reshards)
    addReshards(report, *reshards);
  const SmallVector<dist::RankProgram> programs = dist::programsOf(module);
  for (dist::RankProgram program : programs)
    addCommunication(report, program.module, mesh);
  for (dist::RankProgram program : programs)
    addMemory(report, program.module);
  for (dist::RankProgram program : programs)
    addLaunches(report, program.module, titleOf(program.module, "kernels on the device"));
}

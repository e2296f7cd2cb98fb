// Reports the play of a step.

#include "passes/Explain/StepReport.h"

#include "passes/Explain/Boundary.h"

#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/ExecDialect.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace dpc;

static std::string millisecondsText(double seconds) {
  return llvm::formatv("{0:f3}", seconds * 1e3).str();
}

/// "12.3 %", or "" if `whole` is 0.
static std::string shareText(double part, double whole) {
  return whole > 0 ? llvm::formatv("{0:f1} %", 100 * part / whole).str() : "";
}

namespace {
/// The time of a rank by class of kernel, and its operations.
struct ClassTimes {
  std::array<double, kKernelClasses> seconds = {};
  double flops = 0;

  ClassTimes(const ExecPlay &play, const PlayedRank &rank) {
    for (const PlayAction &action : play.problem.tables[rank.table].actions) {
      if (action.kind != PlayAction::Kind::compute)
        continue;
      if (action.number < 0) { // buffers are set to zero
        seconds[size_t(KernelClass::copy)] += action.seconds;
        continue;
      }
      const PlayedFunction &function = play.functions[action.number];
      flops += function.flops;
      for (size_t kind = 0; kind < kKernelClasses; ++kind)
        seconds[kind] += function.secondsOfClass[kind];
    }
  }
};
} // namespace

namespace {
/// The samples and the tokens of a step; 0 if it has none.
struct Counts {
  int64_t samples = 0, tokens = 0;
};
} // namespace

/// Inputs and labels of integers for each place in a sequence, such as the numbers and the mask of
/// its tokens, have one shape: samples by places. If there is only one such tensor, it may be a
/// table of features.
static Counts countOf(ModuleOp module) {
  Counts counts;
  std::map<std::pair<int64_t, int64_t>, int64_t> sequences;
  for (const BoundaryTensor &tensor : boundaryOf(module)) {
    if (!tensor.isInput() || tensor.batch < 0)
      continue;
    if (!tensor.isLabel && counts.samples == 0)
      counts.samples = tensor.type.getDimSize(tensor.batch);
    if (tensor.type.getRank() == 2 && tensor.type.getDimSize(1) > 1 &&
        tensor.type.getElementType().isSignlessInteger() &&
        ++sequences[{tensor.type.getDimSize(0), tensor.type.getDimSize(1)}] == 2)
      counts.tokens = tensor.type.getNumElements();
  }
  return counts;
}

/// The memory of the rank that needs the most, by kind: the largest first.
static std::string memoryText(ModuleOp root) {
  int64_t most = -1;
  std::string text;
  for (dist::RankProgram program : dist::programsOf(root)) {
    auto use =
        program.module->getAttrOfType<exec::MemoryUseAttr>(exec::ExecDialect::kMemoryUseAttrName);
    auto memory =
        program.module->getAttrOfType<exec::MemoryAttr>(exec::ExecDialect::kMemoryAttrName);
    if (!use || !memory || memory.getPeak() <= most)
      continue;
    most = memory.getPeak();
    text = bytesText(most) + " a rank";
    if (program.stage)
      text += " of stage " + std::to_string(*program.stage);
    std::pair<StringRef, int64_t> kinds[] = {
        {"parameters", use.getParameters()},  {"optimizer state", use.getOptimizer()},
        {"buffers", use.getBuffers()},        {"inputs and outputs", use.getData()},
        {"gradients", use.getGradients()},    {"gathered parameters", use.getGathered()},
        {"activations", use.getActivations()}};
    llvm::stable_sort(kinds, [](const auto &a, const auto &b) { return a.second > b.second; });
    for (auto [index, kind] : llvm::enumerate(kinds))
      if (kind.second >= most / 100)
        text += (index ? ", " : ": ") + kind.first.str() + " " + bytesText(kind.second);
  }
  return text;
}

/// The share of the step in which ranks wait for other stages, on average; "" without stages.
static std::string bubbleText(const StepTimeline &timeline) {
  double waited = 0, ranks = 0;
  for (const PlayedRank &rank : timeline.played) {
    waited +=
        rank.ranks.size() * (rank.waitedForStages + rank.exposedSeconds[size_t(PlayCause::stages)]);
    ranks += rank.ranks.size();
  }
  return waited > 0 ? shareText(waited / ranks, timeline.seconds) : "";
}

static std::string ranksText(const PlayedRank &rank) {
  const size_t count = rank.ranks.size();
  return count == 1 ? "rank " + std::to_string(rank.ranks.front())
                    : std::to_string(count) + " ranks, the first one rank " +
                          std::to_string(rank.ranks.front());
}

void dpc::addStep(ExplainReport &report, ModuleOp module, const PlayedStep &step, bool isMeasured) {
  const ExecPlay &play = step.play;
  const StepTimeline &timeline = step.timeline;
  const auto last =
      llvm::max_element(timeline.played, [](const PlayedRank &a, const PlayedRank &b) {
        return a.endSeconds < b.endSeconds;
      });
  const ClassTimes times(play, *last);
  const Topology &topology = play.problem.topology;

  ReportSection &section = report.add("one step (model)");
  section.lines.push_back("machine: " + topology.name +
                          (isMeasured ? ", with kernels measured on this host" : ""));
  std::string line = millisecondsText(timeline.seconds) + " ms";
  const Counts counts = countOf(module);
  for (auto [what, count] : {std::pair("samples", counts.samples), {"tokens", counts.tokens}})
    if (count)
      line += llvm::formatv(", {0:f0} {1}/s", count / timeline.seconds, what).str();
  const double peak = topology.device.rateOf(NumberType::f32);
  section.lines.push_back(line + llvm::formatv(", {0} of the device's rate for f32",
                                               shareText(times.flops / timeline.seconds, peak))
                                     .str());
  if (const std::string memory = memoryText(module); !memory.empty())
    section.lines.push_back(memory);
  if (const std::string bubble = bubbleText(timeline); !bubble.empty())
    section.lines.push_back("ranks wait for other stages in " + bubble + " of the step (bubble)");
  if (timeline.played.size() > 1)
    section.lines.push_back(ranksText(*last) + " ends last:");
  section.columns = {"", ">ms", ">of the step"};
  auto add = [&](const std::string &what, double seconds) {
    if (seconds >= 5e-4 * timeline.seconds) // others would be 0.0 %
      section.addRow({what, millisecondsText(seconds), shareText(seconds, timeline.seconds)});
  };
  double planned = 0;
  for (size_t kind = kKernelClasses; kind-- > 0;) {
    add("compute: " + nameOf(KernelClass(kind)).str(), times.seconds[kind]);
    planned += times.seconds[kind];
  }
  add("compute: slower during communication", last->computeSeconds - planned);
  for (size_t cause = 0; cause < kPlayCauses; ++cause)
    add("wait: " + nameOf(PlayCause(cause)).str(), last->exposedSeconds[cause]);
  add("wait: until other ranks start", last->waitedForRanks);
  add("wait: until other stages send", last->waitedForStages);
}

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

StepNumbers::StepNumbers(ModuleOp module, const PlayedStep &step) : seconds(step.timeline.seconds) {
  last = &*llvm::max_element(step.timeline.played, [](const PlayedRank &a, const PlayedRank &b) {
    return a.endSeconds < b.endSeconds;
  });
  const ExecPlay &play = step.play;
  double flops = 0;
  for (const PlayAction &action : play.problem.tables[last->table].actions) {
    if (action.kind != PlayAction::Kind::compute)
      continue;
    if (action.number < 0) { // buffers are set to zero
      secondsOfClass[size_t(KernelClass::copy)] += action.seconds;
      continue;
    }
    const PlayedFunction &function = play.functions[action.number];
    flops += function.flops;
    for (size_t kind = 0; kind < kKernelClasses; ++kind)
      secondsOfClass[kind] += function.secondsOfClass[kind];
  }
  const double peak = play.problem.topology.device.rateOf(NumberType::f32);
  if (peak > 0 && seconds > 0)
    shareOfPeak = flops / seconds / peak;
  const Counts counts = countOf(module);
  samplesPerSecond = counts.samples / seconds;
  tokensPerSecond = counts.tokens / seconds;
}

double StepNumbers::waitedSeconds() const {
  double sum = last->waitedForRanks + last->waitedForStages;
  for (double exposed : last->exposedSeconds)
    sum += exposed;
  return sum;
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
  const StepNumbers numbers(module, step);
  const StepTimeline &timeline = step.timeline;
  const Topology &topology = step.play.problem.topology;

  ReportSection &section = report.add("one step (model)");
  section.lines.push_back("machine: " + topology.name +
                          (isMeasured ? ", with kernels measured on this host" : ""));
  std::string line = millisecondsText(timeline.seconds) + " ms";
  for (auto [what, rate] :
       {std::pair("samples", numbers.samplesPerSecond), {"tokens", numbers.tokensPerSecond}})
    if (rate > 0)
      line += llvm::formatv(", {0:f0} {1}/s", rate, what).str();
  section.lines.push_back(
      line +
      llvm::formatv(", {0} of the device's rate for f32", shareText(numbers.shareOfPeak, 1)).str());
  if (const std::string memory = memoryText(module); !memory.empty())
    section.lines.push_back(memory);
  if (const std::string bubble = bubbleText(timeline); !bubble.empty())
    section.lines.push_back("ranks wait for other stages in " + bubble + " of the step (bubble)");
  if (timeline.played.size() > 1)
    section.lines.push_back(ranksText(*numbers.last) + " ends last:");
  section.columns = {"", ">ms", ">of the step"};
  auto add = [&](const std::string &what, double seconds) {
    if (seconds >= 5e-4 * timeline.seconds) // others would be 0.0 %
      section.addRow({what, millisecondsText(seconds), shareText(seconds, timeline.seconds)});
  };
  double planned = 0;
  for (size_t kind = kKernelClasses; kind-- > 0;) {
    add("compute: " + nameOf(KernelClass(kind)).str(), numbers.secondsOfClass[kind]);
    planned += numbers.secondsOfClass[kind];
  }
  add("compute: slower during communication", numbers.last->computeSeconds - planned);
  for (size_t cause = 0; cause < kPlayCauses; ++cause)
    add("wait: " + nameOf(PlayCause(cause)).str(), numbers.last->exposedSeconds[cause]);
  add("wait: until other ranks start", numbers.last->waitedForRanks);
  add("wait: until other stages send", numbers.last->waitedForStages);
}

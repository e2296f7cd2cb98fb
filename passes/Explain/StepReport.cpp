// Reports the play of a step.

#include "passes/Explain/StepReport.h"

#include "passes/Explain/Boundary.h"

#include "llvm/Support/FormatVariadic.h"

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
  for (const BoundaryTensor &tensor : boundaryOf(module))
    if (tensor.isInput() && !tensor.isLabel && tensor.batch >= 0) {
      const int64_t samples = tensor.type.getDimSize(tensor.batch);
      line += llvm::formatv(", {0:f0} samples/s", samples / timeline.seconds).str();
      break;
    }
  const double peak = topology.device.rateOf(NumberType::f32);
  section.lines.push_back(line + llvm::formatv(", {0} of the device's rate for f32",
                                               shareText(times.flops / timeline.seconds, peak))
                                     .str());
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

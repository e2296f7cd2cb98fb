// Describes the stages of a pipeline, from the attributes that the passes of stages left.

#include "passes/Explain/PipelineReport.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/ExecOps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace dpc;

/// The most characters of a stage's row that are printed.
static constexpr size_t kMostCharacters = 240;

static std::string milliseconds(int64_t ns) { return llvm::formatv("{0:F3}", double(ns) / 1e6); }

/// The time of all pieces of a stage, divided by the number of microbatches.
static int64_t timeOfMicrobatch(dist::PipelineAttr pipeline, int64_t stage) {
  auto starts = cast<DenseI64ArrayAttr>(pipeline.getStarts()[stage]),
       ends = cast<DenseI64ArrayAttr>(pipeline.getEnds()[stage]);
  int64_t sum = 0, microbatches = 0;
  for (auto [start, end] : llvm::zip_equal(starts.asArrayRef(), ends.asArrayRef()))
    sum += end - start;
  SmallVector<StringRef> runs;
  cast<StringAttr>(pipeline.getRows()[stage]).getValue().split(runs, ' ', -1, false);
  std::map<StringRef, int64_t> counts; // by chunk and kind of the piece
  for (StringRef run : runs)
    microbatches = std::max(microbatches, ++counts[run.take_front(run.find_first_of("FBW") + 1)]);
  return microbatches ? sum / microbatches : 0;
}

/// The bytes that one rank of the stage sends to other stages in one run of `entry`.
static int64_t sentBytes(exec::EntryOp entry) {
  int64_t bytes = 0;
  entry.walk([&](exec::StartSendOp send) {
    int64_t times = 1;
    for (Operation *at = send->getParentOp(); at != entry; at = at->getParentOp())
      if (auto loop = dyn_cast<exec::LoopOp>(at))
        times *= loop.getCount();
    bytes += times * exec::bufferBytes(send.getBuffer().getType());
  });
  return bytes;
}

static std::string shortened(StringRef row) {
  if (row.size() <= kMostCharacters)
    return row.str();
  const size_t end = row.rfind(' ', kMostCharacters);
  return (row.take_front(end) + " ..").str();
}

void dpc::addPipeline(ExplainReport &report, ModuleOp module) {
  auto borders = module->getAttrOfType<ArrayAttr>(dist::DistDialect::kBordersAttrName);
  if (!borders)
    return;
  ReportSection &section = report.add("pipeline");
  auto pipeline = module->getAttrOfType<dist::PipelineAttr>(dist::DistDialect::kPipelineAttrName);
  if (pipeline) {
    section.lines.push_back(
        llvm::formatv("schedule {0}: the slowest stage waits {1:F1}% of a step (model)",
                      pipeline.getSchedule(), double(pipeline.getBubblePpm()) / 1e4));
    for (auto [stage, row] : llvm::enumerate(pipeline.getRows().getAsValueRange<StringAttr>()))
      section.lines.push_back("stage " + std::to_string(stage) + ": " + shortened(row));
  }
  if (auto crossings = module->getAttrOfType<ArrayAttr>(dist::DistDialect::kCrossingsAttrName))
    for (StringRef crossing : crossings.getAsValueRange<StringAttr>())
      section.lines.push_back("crosses several borders: " + crossing.str());
  auto placed = module->getAttrOfType<DenseI64ArrayAttr>(dist::DistDialect::kStagesAttrName);
  section.columns = {">stage", "starts with", ">ms of a microbatch (model)",
                     ">a rank sends in a step", ">a rank holds"};
  for (dist::RankProgram program : dist::programsOf(module)) {
    if (!program.stage)
      continue;
    const int64_t stage = *program.stage;
    std::vector<std::string> nodes;
    for (auto [chunk, node] : llvm::enumerate(borders.getAsValueRange<StringAttr>()))
      if (placed && chunk < size_t(placed.size()) && placed[chunk] == stage)
        nodes.push_back(node.empty() ? "?" : node.str());
    std::string time, sent, held;
    if (pipeline && stage < int64_t(pipeline.getRows().size()))
      time = milliseconds(timeOfMicrobatch(pipeline, stage));
    if (auto entry = program.module.lookupSymbol<exec::EntryOp>("step"))
      sent = bytesText(sentBytes(entry));
    if (auto memory =
            program.module->getAttrOfType<exec::MemoryAttr>(exec::ExecDialect::kMemoryAttrName))
      held = bytesText(memory.getPeak());
    section.addRow({std::to_string(stage), llvm::join(nodes, ", "), time, sent, held});
  }
}

void dpc::drawSchedule(dist::PipelineAttr pipeline, llvm::raw_ostream &os) {
  constexpr int64_t width = 1400, height = 26, left = 70, top = 44;
  constexpr StringLiteral colors[] = {"#7fb3d5", "#f5b971", "#8fc98f"};
  int64_t last = 1;
  for (Attribute ends : pipeline.getEnds())
    for (int64_t end : cast<DenseI64ArrayAttr>(ends).asArrayRef())
      last = std::max(last, end);
  auto x = [&](int64_t ns) { return double(left) + double(width) * double(ns) / double(last); };
  const int64_t stages = pipeline.getRows().size();
  os << llvm::formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                      "font-family=\"sans-serif\" font-size=\"11\">\n",
                      left + width + 20, top + stages * height + 30)
     << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
     << llvm::formatv("<text x=\"{0}\" y=\"20\" font-size=\"14\">{1}: {2} ms, the slowest stage "
                      "waits {3:F1}% (model)</text>\n",
                      left, pipeline.getSchedule(), milliseconds(last),
                      double(pipeline.getBubblePpm()) / 1e4);
  for (int64_t stage = 0; stage < stages; ++stage) {
    const int64_t y = top + stage * height;
    os << llvm::formatv("<text x=\"4\" y=\"{0}\">stage {1}</text>\n", y + 15, stage);
    SmallVector<StringRef> runs;
    cast<StringAttr>(pipeline.getRows()[stage]).getValue().split(runs, ' ', -1, false);
    for (auto [run, start, end] :
         llvm::zip_equal(runs, cast<DenseI64ArrayAttr>(pipeline.getStarts()[stage]).asArrayRef(),
                         cast<DenseI64ArrayAttr>(pipeline.getEnds()[stage]).asArrayRef())) {
      const double from = x(start), wide = x(end) - x(start);
      const size_t letter = run.find_first_of("FBW");
      os << llvm::formatv(
          "<rect x=\"{0:F2}\" y=\"{1}\" width=\"{2:F2}\" height=\"{3}\" "
          "fill=\"{4}\" stroke=\"white\"><title>{5}: {6} to {7} ms</title></rect>\n",
          from, y, wide, height - 4, colors[StringRef("FBW").find(run[letter])], run,
          milliseconds(start), milliseconds(end));
      if (wide > 7. * double(run.size()))
        os << llvm::formatv("<text x=\"{0:F2}\" y=\"{1}\" text-anchor=\"middle\">{2}</text>\n",
                            from + wide / 2, y + 15, run);
    }
  }
  os << llvm::formatv(
      "<text x=\"{0}\" y=\"{1}\">F forward, B backward, W gradients of weights; the "
      "number before the letter is the part of the model, the one after it the "
      "microbatch</text>\n</svg>\n",
      left, top + stages * height + 18);
}

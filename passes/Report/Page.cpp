// Puts the parts of a report page together.

#include "passes/Report/Page.h"

#include "passes/Report/Html.h"
#include "passes/Report/Machine.h"
#include "passes/Report/MemoryChart.h"
#include "passes/Report/PageStyle.h"
#include "passes/Report/Timeline.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/Stages.h"
#include "passes/Explain/StepReport.h"
#include "planning/SizeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace dpc;

namespace {
/// A chapter of the page: the name in its address, and its title.
struct Chapter {
  llvm::StringLiteral id, title;
};
constexpr Chapter kChapters[] = {{"timeline", "Timeline"},         {"memory", "Memory"},
                                 {"machine", "Mesh and machine"},  {"traffic", "Traffic by level"},
                                 {"calls", "Collectives by node"}, {"details", "Details"}};
} // namespace

static void writeHead(llvm::raw_ostream &os, const std::string &title) {
  // Browsers then run no other script, and load nothing, whatever a name contains.
  const std::array<uint8_t, 32> hash = llvm::SHA256::hash(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(kPageScript.data()), kPageScript.size()));
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; script-src 'sha256-"
     << llvm::encodeBase64(hash) << "'\">\n<title>" << escapeHtml(title) << "</title>\n<style>\n"
     << kPageStyle << "</style>\n</head>\n<body>\n";
}

static void openChapter(llvm::raw_ostream &os, llvm::StringRef id) {
  for (const Chapter &chapter : kChapters)
    if (chapter.id == id)
      os << "<section id=\"" << id << "\"><h2>" << chapter.title << "</h2>\n";
}

static void writeCard(llvm::raw_ostream &os, llvm::StringRef what, const std::string &value,
                      const std::string &note = "") {
  os << "<div class=\"card\"><dt>" << what << "</dt><dd>" << escapeHtml(value);
  if (!note.empty())
    os << "<small>" << escapeHtml(note) << "</small>";
  os << "</dd></div>\n";
}

static void writeCards(llvm::raw_ostream &os, ModuleOp module, const PlayedStep &step,
                       llvm::ArrayRef<RankMemory> memories) {
  const StepNumbers numbers(module, step);
  const ExecPlay &play = step.play;
  os << "<dl class=\"cards\">\n";
  writeCard(os, "One step", timeText(numbers.seconds), "modelled");
  for (auto [what, rate] : {std::pair("Samples per second", numbers.samplesPerSecond),
                            {"Tokens per second", numbers.tokensPerSecond}})
    if (rate > 0)
      writeCard(os, what,
                rate < 100 ? llvm::formatv("{0:f1}", rate).str() : countText(int64_t(rate + 0.5)));
  writeCard(os, "Share of peak", percentText(numbers.shareOfPeak, 1), "of the device's f32 rate");
  writeCard(os, "Waiting", percentText(numbers.waitedSeconds(), numbers.seconds),
            timeText(numbers.waitedSeconds()) + " of " + nameOfTimeline(*numbers.last) +
                ", which ends last");
  int64_t bytes = 0;
  for (const RankMemory &memory : memories)
    bytes = std::max(bytes, memory.plannedBytes);
  writeCard(os, "Memory of a rank", bytesText(bytes),
            memories.size() > 1 ? "on the fullest stage" : "planned");
  double sent = 0;
  for (const PlayTable &table : play.problem.tables) {
    double own = 0;
    for (const PlayAction &action : table.actions)
      if (action.kind == PlayAction::Kind::start)
        own += play.calls[action.number].sentBytes;
    sent = std::max(sent, own);
  }
  writeCard(os, "A rank sends", bytesText(int64_t(sent)), "in a step, at most");
  writeCard(os, "Ranks", countText(int64_t(play.problem.tableOf.size())),
            std::to_string(step.timeline.played.size()) +
                (step.timeline.played.size() == 1 ? " distinct timeline" : " distinct timelines"));
  os << "</dl>\n";
}

static std::string meshText(const dist::MeshShape &mesh) {
  std::string text;
  for (const dist::MeshAxis &axis : mesh.axes)
    text += (text.empty() ? "mesh " : ", ") + axis.name + "=" + std::to_string(axis.size);
  return text.empty() ? "one device" : text;
}

LogicalResult dpc::writePage(const ExplainReport &report, StringRef model, ModuleOp module,
                             const std::optional<PlayedStep> &step, llvm::raw_ostream &os) {
  const SmallVector<dist::RankProgram> programs = dist::programsOf(module);
  FailureOr<MeshPrices> prices = dist::getMeshPrices(programs.front().module);
  if (failed(prices))
    return failure();
  const Topology &topology = step ? step->play.problem.topology : prices->machine().topology;
  const dist::MeshShape mesh = dist::getMeshShape(programs.front().module);
  std::vector<int64_t> stages;
  for (const dist::RankProgram &program : programs)
    if (program.stage)
      stages.push_back(*program.stage);
  // The first timeline of each program.
  std::vector<RankMemory> memories;
  std::vector<const PlayedRank *> ranks;
  if (step)
    for (auto [table, program] : llvm::enumerate(programs)) {
      const PlayedRank *rank =
          &*llvm::find_if(step->timeline.played, [&, table = table](const PlayedRank &each) {
            return each.table == table;
          });
      ranks.push_back(rank);
      memories.push_back(memoryOf(program.module, "step", step->play, *rank));
    }
  const bool communicates = step && !step->play.calls.empty();
  auto has = [&](llvm::StringRef id) {
    return id == "timeline" || id == "memory" ? step.has_value()
           : id == "traffic" || id == "calls" ? communicates
                                              : true;
  };

  writeHead(os, model.str() + " - dpc");
  os << "<header><h1>" << escapeHtml(model) << "</h1>\n<p>"
     << (step ? "A training step" : "An inference program") << " on " << escapeHtml(meshText(mesh))
     << ", planned for " << escapeHtml(topology.name)
     << (step ? ". All times are those of dpc's model of this machine." : ".") << "</p>\n";
  os << "<nav aria-label=\"Chapters\"><ul>";
  for (const Chapter &chapter : kChapters)
    if (has(chapter.id))
      os << "<li><a href=\"#" << chapter.id << "\">" << chapter.title << "</a></li>";
  os << "</ul></nav></header>\n<main>\n";
  if (step)
    writeCards(os, module, *step, memories);
  if (step) {
    openChapter(os, "timeline");
    writeTimelines(os, *step, stages);
    os << "</section>\n";
    openChapter(os, "memory");
    writeMemory(os, *step, memories, ranks, stages);
    os << "</section>\n";
  }
  openChapter(os, "machine");
  writeMachine(os, mesh, topology,
               step ? llvm::ArrayRef<size_t>(step->play.problem.tableOf)
                    : llvm::ArrayRef<size_t>());
  os << "</section>\n";
  if (communicates) {
    openChapter(os, "traffic");
    writeTraffic(os, step->play);
    os << "</section>\n";
    openChapter(os, "calls");
    writeCalls(os, *step);
    os << "</section>\n";
  }
  openChapter(os, "details");
  for (const ReportSection &section : report.getSections())
    if (!section.lines.empty() || !section.rows.empty())
      writeHtmlSection(os, section);
  os << "</section>\n</main>\n<footer><p>Written by dpc-compile --report.</p></footer>\n<script>"
     << kPageScript << "</script>\n</body>\n</html>\n";
  return success();
}

// Writes the play of a step as a trace, and reports as JSON.

#include "passes/Explain/StepReport.h"

#include "llvm/Support/JSON.h"

#include <map>

using namespace dpc;

namespace json = llvm::json;

/// Microseconds with as many digits as traces of runs have.
static json::Value microseconds(double seconds) {
  return double(int64_t(seconds * 1e9 + 0.5)) / 1e3;
}

static void writeName(json::OStream &out, int64_t rank, int64_t thread, llvm::StringRef kind,
                      const std::string &name) {
  out.object([&] {
    out.attribute("name", kind);
    out.attribute("ph", "M");
    out.attribute("pid", rank);
    if (thread >= 0)
      out.attribute("tid", thread);
    out.attributeObject("args", [&] { out.attribute("name", json::fixUTF8(name)); });
  });
}

namespace {
/// One event of a trace.
struct Event {
  std::string name, nodes;
  int64_t rank;
  bool isCommunication = false;
  double begin, end;
};
} // namespace

static void writeEvent(json::OStream &out, const Event &event,
                       llvm::function_ref<void()> addArguments) {
  out.object([&] {
    out.attribute("name", json::fixUTF8(event.name));
    out.attribute("ph", "X");
    out.attribute("cat", event.isCommunication ? "comm" : "kernel");
    out.attribute("pid", event.rank);
    out.attribute("tid", event.isCommunication ? 1 : 0);
    out.attribute("ts", microseconds(event.begin));
    out.attribute("dur", microseconds(event.end - event.begin));
    out.attributeObject("args", [&] {
      out.attribute("step", 1);
      addArguments();
      if (!event.nodes.empty())
        out.attribute("node", json::fixUTF8(event.nodes));
    });
  });
}

static int64_t membersOf(const ExecPlay &play, const PlayAction &start) {
  return play.problem.families[start.operation.family].groups.front().size();
}

static void writeRanks(json::OStream &out, const PlayedRank &rank) {
  for (int64_t each : rank.ranks)
    out.value(each);
}

static void writeRank(json::OStream &out, const ExecPlay &play, const PlayedRank &rank) {
  const int64_t first = rank.ranks.front();
  writeName(out, first, 0, "thread_name", "compute");
  writeName(out, first, 1, "thread_name", "communication");
  std::string name = "rank " + std::to_string(first);
  if (rank.ranks.size() > 1)
    name += " and " + std::to_string(rank.ranks.size() - 1) + " more";
  writeName(out, first, -1, "process_name", name);
  const std::vector<PlayAction> &actions = play.problem.tables[rank.table].actions;
  for (auto [number, action] : llvm::enumerate(actions)) {
    const PlayedAction &played = rank.actions[number];
    if (action.kind == PlayAction::Kind::compute) {
      const bool isZero = action.number < 0;
      const Event event{isZero ? "zero" : play.functions[action.number].name,
                        isZero ? "" : play.functions[action.number].nodes,
                        first,
                        false,
                        played.begin,
                        played.end};
      writeEvent(out, event, [] {});
    } else if (action.kind == PlayAction::Kind::wait) {
      const PlayAction &start = actions[action.started];
      const PlayedCall &call = play.calls[start.number];
      const Event event{call.name, call.nodes, first, true, rank.actions[action.started].begin,
                        played.end};
      writeEvent(out, event, [&] {
        out.attribute("Collective name", call.name);
        out.attribute("In msg nelems", call.elements);
        out.attribute("dtype", call.type);
        out.attribute("Group size", membersOf(play, start));
        out.attribute("sent_bytes", call.sentBytes);
        out.attribute("buffer", call.id);
        out.attribute("exposed_us", microseconds(played.end - played.begin));
        out.attribute("Process Group Name", play.families[start.operation.family]);
      });
    }
  }
}

void dpc::writeStepTrace(const PlayedStep &step, llvm::raw_ostream &os) {
  json::OStream out(os);
  out.object([&] {
    out.attribute("schemaVersion", 1);
    out.attributeObject("distributedInfo", [&] {
      out.attribute("backend", "model");
      out.attribute("world_size", int64_t(step.play.problem.tableOf.size()));
      out.attributeArray("timelines", [&] {
        for (const PlayedRank &rank : step.timeline.played)
          out.array([&] { writeRanks(out, rank); });
      });
    });
    out.attributeArray("traceEvents", [&] {
      for (const PlayedRank &rank : step.timeline.played)
        writeRank(out, step.play, rank);
    });
  });
  os << "\n";
}

/// Writes the functions of a rank and its operations, with the sums of their times.
static void writeWork(json::OStream &out, const ExecPlay &play, const PlayedRank &rank) {
  struct Sum {
    int64_t calls = 0;
    double seconds = 0, exposed = 0;
  };
  std::map<std::string, std::pair<std::string, Sum>> functions; // by name: nodes, times
  // By what tells operations apart in traces, in the order of their first calls.
  std::map<std::tuple<std::string, int64_t, size_t>, size_t> positions;
  std::vector<std::pair<const PlayAction *, Sum>> operations;
  const std::vector<PlayAction> &actions = play.problem.tables[rank.table].actions;
  for (auto [number, action] : llvm::enumerate(actions)) {
    const PlayedAction &played = rank.actions[number];
    Sum *sum = nullptr;
    double begin = played.begin;
    if (action.kind == PlayAction::Kind::compute) {
      const bool isZero = action.number < 0;
      auto &function = functions[isZero ? "zero" : play.functions[action.number].name];
      if (!isZero)
        function.first = play.functions[action.number].nodes;
      sum = &function.second;
    } else if (action.kind == PlayAction::Kind::wait) {
      const PlayAction &start = actions[action.started];
      const PlayedCall &call = play.calls[start.number];
      auto [at, isNew] =
          positions.try_emplace({call.name, call.id, start.operation.family}, operations.size());
      if (isNew)
        operations.push_back({&start, {}});
      sum = &operations[at->second].second;
      sum->exposed += played.end - played.begin;
      begin = rank.actions[action.started].begin;
    } else {
      continue;
    }
    ++sum->calls;
    sum->seconds += played.end - begin;
  }
  out.attributeArray("functions", [&] {
    for (const auto &[name, function] : functions)
      out.object([&] {
        out.attribute("name", json::fixUTF8(name));
        out.attribute("node", json::fixUTF8(function.first));
        out.attribute("calls", function.second.calls);
        out.attribute("seconds", function.second.seconds);
      });
  });
  out.attributeArray("operations", [&] {
    for (const auto &[start, sum] : operations)
      out.object([&, start = start, sum = sum] {
        const PlayedCall &call = play.calls[start->number];
        out.attribute("name", call.name);
        out.attribute("node", json::fixUTF8(call.nodes));
        out.attribute("group", play.families[start->operation.family]);
        out.attribute("group_size", membersOf(play, *start));
        out.attribute("buffer", call.id);
        out.attribute("elements", call.elements);
        out.attribute("type", call.type);
        out.attribute("calls", sum.calls);
        out.attribute("seconds", sum.seconds);
        out.attribute("exposed_s", sum.exposed);
        out.attribute("sent_bytes", double(sum.calls) * call.sentBytes);
      });
  });
}

static void writeStep(json::OStream &out, const PlayedStep &step) {
  out.attribute("machine", json::fixUTF8(step.play.problem.topology.name));
  out.attribute("seconds", step.timeline.seconds);
  out.attribute("world_size", int64_t(step.play.problem.tableOf.size()));
  out.attributeArray("timelines", [&] {
    for (const PlayedRank &rank : step.timeline.played)
      out.object([&] {
        out.attributeArray("ranks", [&] { writeRanks(out, rank); });
        out.attribute("end_s", rank.endSeconds);
        out.attribute("compute_s", rank.computeSeconds);
        out.attributeObject("exposed_s", [&] {
          for (size_t cause = 0; cause < kPlayCauses; ++cause)
            out.attribute(nameOf(PlayCause(cause)), rank.exposedSeconds[cause]);
        });
        out.attribute("waited_for_ranks_s", rank.waitedForRanks);
        out.attribute("waited_for_stages_s", rank.waitedForStages);
        double sent = 0;
        for (const PlayAction &action : step.play.problem.tables[rank.table].actions)
          if (action.kind == PlayAction::Kind::start)
            sent += step.play.calls[action.number].sentBytes;
        out.attribute("sent_bytes", sent);
        writeWork(out, step.play, rank);
      });
  });
}

void dpc::writeReportJson(const ExplainReport &report, const std::optional<PlayedStep> &step,
                          llvm::raw_ostream &os) {
  json::OStream out(os);
  auto texts = [&](llvm::StringRef key, llvm::ArrayRef<std::string> list) {
    out.attributeArray(key, [&] {
      for (const std::string &text : list)
        out.value(json::fixUTF8(text));
    });
  };
  out.object([&] {
    if (step)
      out.attributeObject("step", [&] { writeStep(out, *step); });
    out.attributeArray("sections", [&] {
      for (const ReportSection &section : report.getSections())
        out.object([&] {
          out.attribute("title", json::fixUTF8(section.title));
          texts("lines", section.lines);
          texts("columns", section.columns);
          out.attributeArray("rows", [&] {
            for (const std::vector<std::string> &row : section.rows)
              out.array([&] {
                for (const std::string &cell : row)
                  out.value(json::fixUTF8(cell));
              });
          });
        });
    });
  });
  os << "\n";
}

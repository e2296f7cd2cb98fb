// Sums what ranks send by level of the topology and by ONNX node.

#include "passes/Explain/Names.h"
#include "passes/Report/Html.h"
#include "passes/Report/Machine.h"
#include "planning/LevelTraffic.h"
#include "planning/SizeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <numeric>

using namespace llvm;
using namespace dpc;

/// The most rows of the table of operations.
static constexpr size_t kMostCallRows = 60;

namespace {
/// What all starts of one kind in a table have in common.
struct SentKey {
  PlayOperation::Kind kind;
  CollectiveKind collective;
  size_t family;
  int64_t peer;
  PlayCause cause;

  bool operator<(const SentKey &other) const {
    return std::tie(kind, collective, family, peer, cause) <
           std::tie(other.kind, other.collective, other.family, other.peer, other.cause);
  }
};
} // namespace

std::vector<LevelTraffic> dpc::trafficOf(const ExecPlay &play) {
  const PlayProblem &problem = play.problem;
  const Topology &topology = problem.topology;
  std::vector<LevelTraffic> traffic(topology.levels.size());
  std::vector<std::map<SentKey, double>> sent(problem.tables.size());
  for (auto [table, sums] : zip_equal(problem.tables, sent))
    for (const PlayAction &action : table.actions)
      if (action.kind == PlayAction::Kind::start) {
        const PlayOperation &operation = action.operation;
        sums[{operation.kind, operation.collective, operation.family, operation.peer,
              operation.cause}] += play.calls[action.number].sentBytes;
      }
  // By family: the group of each rank.
  std::vector<std::vector<const SmallVector<int64_t> *>> groupOf;
  for (const PlayProblem::Family &family : problem.families) {
    groupOf.emplace_back(problem.tableOf.size());
    for (const SmallVector<int64_t> &group : family.groups)
      for (int64_t rank : group)
        groupOf.back()[rank] = &group;
  }
  std::map<const SmallVector<int64_t> *, GroupPlaces> placesOfGroup; // looked up by key only
  for (size_t rank = 0; rank < problem.tableOf.size(); ++rank) {
    std::vector<double> own(traffic.size());
    for (const auto &[key, bytes] : sent[problem.tableOf[rank]]) {
      const SmallVector<int64_t> *group = groupOf[key.family][rank];
      if (!group || bytes == 0)
        continue;
      std::vector<double> shares(traffic.size(), 0);
      if (key.kind == PlayOperation::Kind::collective) {
        auto places = placesOfGroup.find(group);
        if (places == placesOfGroup.end())
          places = placesOfGroup.emplace(group, GroupPlaces(topology, *group)).first;
        shares = levelShares(topology, problem.transport, key.collective, places->second);
      } else {
        shares[levelBetween(topology, int64_t(rank), (*group)[key.peer])] = 1;
      }
      for (size_t level = 0; level < traffic.size(); ++level) {
        traffic[level].bytes[size_t(key.cause)] += bytes * shares[level];
        own[level] += bytes * shares[level];
      }
    }
    for (size_t level = 0; level < traffic.size(); ++level)
      traffic[level].mostOfRank = std::max(traffic[level].mostOfRank, own[level]);
  }
  return traffic;
}

void dpc::writeTraffic(raw_ostream &os, const ExecPlay &play) {
  const std::vector<LevelTraffic> traffic = trafficOf(play);
  double all = 0;
  for (const LevelTraffic &level : traffic)
    all += std::accumulate(level.bytes.begin(), level.bytes.end(), 0.);
  std::vector<std::vector<std::string>> rows;
  for (auto [level, each] : zip_equal(play.problem.topology.levels, traffic)) {
    const double bytes = std::accumulate(each.bytes.begin(), each.bytes.end(), 0.);
    std::string causes;
    for (size_t cause = 0; cause < kPlayCauses; ++cause)
      if (each.bytes[cause] > 0)
        causes += (causes.empty() ? "" : ", ") + nameOf(PlayCause(cause)).str() + " " +
                  percentText(each.bytes[cause], bytes);
    rows.push_back({level.name, bytesText(int64_t(bytes)), percentText(bytes, all),
                    bytesText(int64_t(each.mostOfRank)), causes});
  }
  writeHtmlTable(os, "Bytes that ranks send in a step, by the outermost level that they pass",
                 {"level", ">all ranks send", ">share", ">most of one rank", "for"}, rows);
}

void dpc::writeCalls(raw_ostream &os, const PlayedStep &step) {
  const ExecPlay &play = step.play;
  struct Sum {
    size_t count = 0;
    double bytes = 0, waited = 0;
  };
  struct Row {
    std::vector<std::string> nodes;
    std::string name, family;
    PlayCause cause = PlayCause::activations;
    Sum most; ///< of the timeline that waits longest, then of the one that sends most
  };
  std::map<std::string, size_t> positions;
  std::vector<Row> rows;
  for (const PlayedRank &rank : step.timeline.played) {
    const std::vector<PlayAction> &actions = play.problem.tables[rank.table].actions;
    std::map<size_t, Sum> own;
    for (auto [number, action] : enumerate(actions)) {
      if (action.kind != PlayAction::Kind::wait)
        continue;
      const PlayAction &start = actions[action.started];
      const PlayedCall &call = play.calls[start.number];
      const std::string &family = play.families[start.operation.family];
      const std::string key = nodeFamily(call.nodes) + "\n" + call.name + "\n" + family + "\n" +
                              std::to_string(int(start.operation.cause));
      auto [at, isNew] = positions.try_emplace(key, rows.size());
      if (isNew)
        rows.push_back({{}, call.name, family, start.operation.cause, {}});
      std::vector<std::string> &nodes = rows[at->second].nodes;
      if (!is_contained(nodes, call.nodes))
        nodes.push_back(call.nodes);
      Sum &sum = own[at->second];
      ++sum.count;
      sum.bytes += call.sentBytes;
      sum.waited += rank.actions[number].end - rank.actions[number].begin;
    }
    for (const auto &[row, sum] : own)
      if (std::tie(sum.waited, sum.bytes) >= std::tie(rows[row].most.waited, rows[row].most.bytes))
        rows[row].most = sum;
  }
  stable_sort(rows, [](const Row &a, const Row &b) {
    return std::tie(a.most.waited, a.most.bytes) > std::tie(b.most.waited, b.most.bytes);
  });
  std::vector<std::vector<std::string>> cells;
  for (const Row &row : rows) {
    const bool hasNode = !row.nodes.front().empty();
    cells.push_back({hasNode ? patternOfNodes(row.nodes) : "no node", row.name, row.family,
                     nameOf(row.cause).str(), std::to_string(row.most.count),
                     bytesText(int64_t(row.most.bytes)),
                     formatv("{0:f3}", row.most.waited * 1e3).str()});
  }
  writeHtmlTable(os,
                 "Collectives and messages of a step, by ONNX node, of the rank that waits "
                 "longest",
                 {"node", "operation", "over", "for", ">times", ">a rank sends", ">waited ms"},
                 cells, kMostCallRows);
}

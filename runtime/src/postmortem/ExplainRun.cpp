// Writes what the records of a run say, and draws one conclusion from them.

#include "runtime/src/base/Phrases.h"
#include "runtime/src/comm/Waits.h"
#include "runtime/src/postmortem/Findings.h"
#include "runtime/src/postmortem/Postmortem.h"

#include <algorithm>
#include <cstdio>

namespace dpc {

namespace {

const char *stateText(OperationState state) {
  return state == OperationState::done      ? "was done"
         : state == OperationState::started ? "had started"
                                            : "was about to start";
}

std::string endText(const RankRecord &rank) {
  return rank.end == RankEnd::well ? "ended well"
         : rank.end == RankEnd::failed
             ? "ended with exit code " + std::to_string(rank.status)
             : "did not end by itself (process " + std::to_string(rank.process) + ")";
}

/// "its last operation, all-reduce of buffer 1, step 3, had started".
std::string lastOf(const RankRecord &rank) {
  if (rank.operations.empty())
    return "it began no operation";
  const RecordedOperation &last = rank.operations.back();
  return "its last operation, " + describe(last) + ", " + stateText(last.state);
}

std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

/// The findings about one run, and the lines that they give.
class RunReport {
public:
  explicit RunReport(const std::vector<RankRecord> &records)
      : ranks(records[0].worldSize), first(records[0]) {
    for (const RankRecord &record : records)
      ranks[record.rank] = &record;
    series = findSeries(ranks);
    divergence = findDivergence(series);
    open = findOpen(series, ranks);
    stragglers = findStragglers(series, ranks);
  }

  std::string text() const {
    std::string out = headLine();
    out += "first divergent operation: " + (divergence ? divergence->text : "none") + "\n";
    out += missingLines();
    for (const Straggler &each : stragglers)
      out += "straggler: " + stragglerText(each) + "\n";
    if (stragglers.empty())
      out += "stragglers: none\n";
    out += "ranks:\n";
    for (uint32_t rank = 0; rank < ranks.size(); ++rank)
      if (ranks[rank])
        out += "  rank " + std::to_string(rank) + " on " + ranks[rank]->host + " " +
               endText(*ranks[rank]) + "; " + lastOf(*ranks[rank]) + "\n";
      else
        out += "  rank " + std::to_string(rank) + ": no record\n";
    return out + "conclusion: " + conclusion() + "\n";
  }

private:
  std::string headLine() const {
    return first.program + ", " + countOf(ranks.size(), "rank") + ", " +
           (first.start ? "start " + std::to_string(first.start + 1) + " of the run, " : "") +
           countOf(size_t(std::count_if(ranks.begin(), ranks.end(), [](auto *r) { return r; })),
                   "record") +
           "\n";
  }

  std::string missingLines() const {
    std::string out;
    for (const OpenOperation &each : open) {
      std::vector<uint32_t> absent = each.missing;
      absent.insert(absent.end(), each.unrecorded.begin(), each.unrecorded.end());
      std::sort(absent.begin(), absent.end());
      out += "missing: " + ranksText(absent) + " in " + describe(*each.operation, *each.series) +
             ", which " + ranksText(each.waiting) + " began\n";
    }
    return out.empty() ? "missing ranks: none\n" : out;
  }

  static std::string stragglerText(const Straggler &each) {
    const std::string rank = "rank " + std::to_string(each.rank), time = secondsText(each.seconds);
    if (!each.operation)
      return rank + " stood still for " + time + ", before the operations that are kept";
    return rank +
           (each.stoodStill ? " stood still for " + time + " after it began "
                            : " came " + time + " after the others to ") +
           describe(*each.operation);
  }

  /// The operation in which `rank` waits for ranks that have not begun it.
  const OpenOperation *waitOf(uint32_t rank) const {
    for (const OpenOperation &each : open)
      if (std::count(each.waiting.begin(), each.waiting.end(), rank) && !each.missing.empty())
        return &each;
    return nullptr;
  }

  /// Says which rank keeps the others waiting. Empty if no rank waits.
  std::string culpritText() const {
    for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
      const OpenOperation *wait = waitOf(rank);
      if (!wait)
        continue;
      const Wait last =
          findLastWait({rank, wait->missing[0]}, uint32_t(ranks.size()), [&](uint32_t other) {
            const OpenOperation *its = waitOf(other);
            return its ? its->missing[0] : uint32_t(DPC_NONE);
          });
      const OpenOperation &where = *waitOf(last.rank);
      return "rank " + std::to_string(last.late) + " did not begin " +
             describe(*where.operation, *where.series) + ", and " + ranksText(where.waiting) +
             " waited for it; rank " + std::to_string(last.late) + " " +
             endText(*ranks[last.late]) + "; " + lastOf(*ranks[last.late]);
    }
    return "";
  }

  std::vector<uint32_t> ranksThat(bool (*is)(const RankRecord *)) const {
    std::vector<uint32_t> out;
    for (uint32_t rank = 0; rank < ranks.size(); ++rank)
      if (is(ranks[rank]))
        out.push_back(rank);
    return out;
  }

  std::string conclusion() const {
    if (divergence)
      return divergence->text;
    const std::vector<uint32_t> unrecorded = ranksThat([](const RankRecord *r) { return !r; });
    if (!unrecorded.empty())
      return "no record of " + ranksText(unrecorded) +
             ": the folder of a host is missing here, or the run ended before they joined it";
    const std::vector<uint32_t> silent =
        ranksThat([](const RankRecord *r) { return r->end == RankEnd::none; });
    if (!silent.empty() && silent.size() < ranks.size())
      return ranksText(silent) + " did not end by " +
             (silent.size() == 1 ? "itself" : "themselves") + "; " + lastOf(*ranks[silent[0]]);
    if (const std::string culprit = culpritText(); !culprit.empty())
      return culprit;
    if (!silent.empty())
      return "all ranks ended at once, or still run, and none waits for another";
    const std::vector<uint32_t> failed =
        ranksThat([](const RankRecord *r) { return r->end == RankEnd::failed; });
    if (!failed.empty())
      return ranksText(failed) + " ended with a failure, and no rank waits for another";
    return stragglers.empty() ? "all ranks ended well"
                              : "all ranks ended well, but " + stragglerText(stragglers[0]);
  }

  RecordsByRank ranks;
  const RankRecord &first;
  std::vector<Series> series;
  std::optional<Divergence> divergence;
  std::vector<OpenOperation> open;
  std::vector<Straggler> stragglers;
};

} // namespace

std::string explainRun(const std::vector<RankRecord> &records) { return RunReport(records).text(); }

std::string lastOperationText(const char *image) {
  RankRecord record;
  return readImage(image, kRecorderBytes, &record) || record.operations.empty() ? ""
                                                                                : lastOf(record);
}

} // namespace dpc

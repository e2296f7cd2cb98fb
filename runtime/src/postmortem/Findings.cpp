// Compares what ranks have recorded about their common operations.

#include "runtime/src/postmortem/Findings.h"

#include <algorithm>
#include <map>
#include <set>

namespace dpc {

namespace {

/// A delay counts if it is at least this long, and this many times longer than half of all delays.
constexpr double kLeastDelay = 0.25, kTimesUsual = 10;

/// The numbers of all operations that a series has.
std::set<uint64_t> sequencesOf(const Series &series) {
  std::set<uint64_t> out;
  for (const auto &operations : series.operations)
    for (const auto &[sequence, operation] : operations)
      out.insert(sequence);
  return out;
}

/// Seconds in which `rank` waited in an operation, between two times.
double waitedBetween(const RankRecord &rank, int64_t from, int64_t to) {
  double sum = 0;
  for (const RecordedOperation &operation : rank.operations) {
    const int64_t end = std::min(to, operation.doneNs ? operation.doneNs : to);
    const int64_t begin = std::max(from, operation.waitNs);
    if (operation.waitNs && begin < end)
      sum += double(end) - double(begin);
  }
  return sum * 1e-9;
}

/// The member that began an operation last, and the seconds after the second last one.
struct Arrival {
  size_t member;
  int64_t before, at;
  double seconds() const { return (double(at) - double(before)) * 1e-9; }
};

std::optional<Arrival> lastArrival(const Series &series, uint64_t sequence) {
  std::vector<std::pair<int64_t, size_t>> times;
  for (size_t m = 0; m < series.members.size(); ++m)
    if (const RecordedOperation *operation = series.find(m, sequence))
      times.emplace_back(operation->scheduledNs, m);
  if (times.size() < 2 || times.size() < series.members.size())
    return std::nullopt;
  std::sort(times.begin(), times.end());
  return Arrival{times.back().second, times[times.size() - 2].first, times.back().first};
}

/// The last operation that the rank had scheduled at a time. Null if it is not recorded any more.
const RecordedOperation *operationAt(const RankRecord &rank, int64_t at) {
  const RecordedOperation *found = nullptr;
  for (const RecordedOperation &operation : rank.operations)
    if (operation.scheduledNs <= at)
      found = &operation;
  return found;
}

} // namespace

std::optional<Divergence> findDivergence(const std::vector<Series> &all) {
  std::optional<Divergence> first;
  for (const Series &series : all)
    for (const uint64_t sequence : sequencesOf(series)) {
      std::vector<Announcement> said;
      std::vector<uint32_t> members;
      int64_t at = INT64_MAX;
      for (size_t m = 0; m < series.members.size(); ++m)
        if (const RecordedOperation *operation = series.find(m, sequence)) {
          said.push_back(announcementOf(*operation, series.isPair));
          members.push_back(series.members[m]);
          at = std::min(at, operation->scheduledNs);
        }
      const bool isEqual = std::all_of(
          said.begin(), said.end(), [&](const Announcement &each) { return each == said.front(); });
      if (isEqual)
        continue;
      if (!first || at < first->at)
        first = Divergence{at, findDeparture(said, members, sequence).text + " in " + series.name};
      break; // later operations of the series follow from this one
    }
  return first;
}

std::vector<OpenOperation> findOpen(const std::vector<Series> &all, const RecordsByRank &ranks) {
  std::vector<OpenOperation> out;
  for (const Series &series : all)
    for (const uint64_t sequence : sequencesOf(series)) {
      OpenOperation open = {&series, nullptr, {}, {}, {}};
      for (size_t m = 0; m < series.members.size(); ++m) {
        const RecordedOperation *operation = series.find(m, sequence);
        if (operation && operation->state != OperationState::done) {
          open.waiting.push_back(series.members[m]);
          open.operation = operation;
        } else if (!ranks[series.members[m]]) {
          open.unrecorded.push_back(series.members[m]);
        } else if (series.lacks(m, sequence)) {
          open.missing.push_back(series.members[m]);
        }
      }
      if (open.waiting.empty() || (open.missing.empty() && open.unrecorded.empty()))
        continue;
      out.push_back(std::move(open));
      break;
    }
  std::sort(out.begin(), out.end(), [](const OpenOperation &a, const OpenOperation &b) {
    return a.operation->scheduledNs < b.operation->scheduledNs;
  });
  return out;
}

std::vector<Straggler> findStragglers(const std::vector<Series> &all, const RecordsByRank &ranks) {
  std::vector<double> delays;
  std::map<uint32_t, Straggler> worst;
  const auto consider = [&](const Straggler &late) {
    const auto [known, isNew] = worst.emplace(late.rank, late);
    if (!isNew && known->second.seconds < late.seconds)
      known->second = late;
  };
  for (const Series &series : all)
    for (const uint64_t sequence : sequencesOf(series)) {
      const std::optional<Arrival> last = lastArrival(series, sequence);
      if (!last)
        continue;
      delays.push_back(last->seconds());
      const uint32_t rank = series.members[last->member];
      if (last->seconds() >= kLeastDelay)
        consider({rank, last->seconds() - waitedBetween(*ranks[rank], last->before, last->at),
                  series.find(last->member, sequence), false});
    }
  for (const RankRecord *rank : ranks)
    for (const Pause &pause : rank ? rank->pauses : std::vector<Pause>())
      consider({rank->rank, (double(pause.endNs) - double(pause.beginNs)) * 1e-9,
                operationAt(*rank, pause.beginNs), true});
  double usual = 0;
  if (!delays.empty()) {
    const auto middle = delays.begin() + std::ptrdiff_t(delays.size() / 2);
    std::nth_element(delays.begin(), middle, delays.end());
    usual = *middle;
  }
  std::vector<Straggler> out;
  for (const auto &[rank, straggler] : worst)
    if (straggler.seconds >= std::max(kLeastDelay, kTimesUsual * usual))
      out.push_back(straggler);
  std::sort(out.begin(), out.end(),
            [](const Straggler &a, const Straggler &b) { return a.seconds > b.seconds; });
  return out;
}

} // namespace dpc

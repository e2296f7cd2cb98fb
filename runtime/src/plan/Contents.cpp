// Tracks, for each byte of a rank's memory, the logical buffer to which it belongs,
// and whether it was read since it was written. Neighbouring bytes with equal
// properties are stored as one run.
#include "runtime/src/plan/Contents.h"

#include <algorithm>

namespace dpc::plan {

Contents::Runs::iterator Contents::firstOf(Runs &runs, uint64_t begin) {
  auto at = runs.upper_bound(begin);
  return at != runs.begin() && std::prev(at)->second.end > begin ? std::prev(at) : at;
}

Contents::Runs::const_iterator Contents::firstOf(const Runs &runs, uint64_t begin) {
  auto at = runs.upper_bound(begin);
  return at != runs.begin() && std::prev(at)->second.end > begin ? std::prev(at) : at;
}

void Contents::fill(const ByteRange &range, uint32_t buffer, Write kind) {
  if (range.empty())
    return;
  Runs &runs = spaces[range.space];
  auto at = firstOf(runs, range.begin);
  if (at != runs.end() && at->first == range.begin && at->second.end == range.end) {
    at->second = {range.end, buffer, /*isRead=*/false, kind, /*isTaken=*/false};
    return;
  }
  while (at != runs.end() && at->first < range.end) {
    const auto [first, run] = *at;
    at = runs.erase(at);
    if (first < range.begin)
      runs[first] = {range.begin, run.buffer, run.isRead, run.latest, run.isTaken};
    if (run.end > range.end)
      runs[range.end] = run;
  }
  runs[range.begin] = {range.end, buffer, /*isRead=*/false, kind, /*isTaken=*/false};
}

Contents::Runs::iterator Contents::cut(Runs &runs, Runs::iterator at, uint64_t begin,
                                       uint64_t end) {
  const auto [first, run] = *at;
  if (run.end > end) {
    runs[end] = run;
    at->second.end = end;
  }
  if (first < begin) {
    Run part = at->second;
    at->second.end = begin;
    at = runs.emplace(begin, part).first;
  }
  return at;
}

Contents::Runs::iterator Contents::markRead(Runs &runs, Runs::iterator at, uint64_t begin,
                                            uint64_t end, bool isTaken) {
  if (at->second.isRead && (at->second.isTaken || !isTaken))
    return std::next(at);
  at = cut(runs, at, begin, end);
  at->second.isRead = true;
  at->second.isTaken |= isTaken;
  return std::next(at);
}

void Contents::add(const ByteRange &range, uint32_t buffer) {
  Runs &runs = spaces[range.space];
  for (auto at = firstOf(runs, range.begin); at != runs.end() && at->first < range.end; ++at) {
    if (at->second.buffer != buffer)
      continue;
    at = cut(runs, at, range.begin, range.end);
    at->second.isRead = false;
    at->second.latest = Write::Term;
  }
}

std::optional<Contents::Stranger> Contents::read(const ByteRange &range, uint32_t buffer,
                                                 bool isForAdd) {
  Runs &runs = spaces[range.space];
  uint64_t next = range.begin;
  for (auto at = firstOf(runs, range.begin); next < range.end;) {
    if (at == runs.end() || at->first > next)
      return Stranger{next, std::nullopt};
    if (at->second.buffer != buffer)
      return Stranger{next, at->second.buffer};
    const uint64_t end = std::min(at->second.end, range.end);
    at = markRead(runs, at, next, range.end, !isForAdd);
    next = end;
  }
  return std::nullopt;
}

std::vector<ByteRange> Contents::readParts(const ByteRange &range, uint32_t buffer) {
  std::vector<ByteRange> parts;
  Runs &runs = spaces[range.space];
  for (auto at = firstOf(runs, range.begin); at != runs.end() && at->first < range.end;) {
    if (at->second.buffer != buffer) {
      ++at;
      continue;
    }
    const uint64_t begin = std::max(at->first, range.begin),
                   end = std::min(at->second.end, range.end);
    if (!parts.empty() && parts.back().end == begin)
      parts.back().end = end;
    else
      parts.push_back({range.space, begin, end});
    at = markRead(runs, at, begin, range.end, /*isTaken=*/true);
  }
  return parts;
}

std::optional<uint64_t> Contents::findUnread(const ByteRange &range, uint32_t buffer) const {
  const Runs &runs = spaces[range.space];
  for (auto at = firstOf(runs, range.begin); at != runs.end() && at->first < range.end; ++at)
    if (at->second.buffer == buffer && !at->second.isRead && at->second.latest != Write::Zero)
      return std::max(at->first, range.begin);
  return std::nullopt;
}

std::optional<Contents::Stranger> Contents::findUnreadTerm(const ByteRange &range) const {
  const Runs &runs = spaces[range.space];
  for (auto at = firstOf(runs, range.begin); at != runs.end() && at->first < range.end; ++at)
    if (!at->second.isRead && at->second.latest == Write::Term && at->second.isTaken)
      return Stranger{std::max(at->first, range.begin), at->second.buffer};
  return std::nullopt;
}

} // namespace dpc::plan

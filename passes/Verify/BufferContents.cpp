// Tracks which buffer each byte of a rank's memory belongs to while a program is simulated.

#include "passes/Verify/BufferContents.h"

#include "llvm/ADT/STLExtras.h"

using namespace dpc;

void BufferContents::write(const ByteRange &range, int64_t buffer) {
  if (range.begin >= range.end)
    return;
  auto &runs = owned[range.space];
  auto at = runs.upper_bound(range.begin);
  if (at != runs.begin() && std::prev(at)->second.end > range.begin)
    --at;
  while (at != runs.end() && at->first < range.end) {
    auto [first, run] = *at;
    at = runs.erase(at);
    if (first < range.begin)
      runs[first] = {range.begin, run.buffer};
    if (run.end > range.end)
      runs[range.end] = run;
  }
  runs[range.begin] = {range.end, buffer};
}

std::optional<BufferContents::Stranger> BufferContents::findStranger(const ByteRange &range,
                                                                     int64_t buffer) const {
  auto space = owned.find(range.space);
  int64_t next = range.begin;
  if (space != owned.end()) {
    const auto &runs = space->second;
    auto at = runs.upper_bound(range.begin);
    if (at != runs.begin())
      --at;
    for (; at != runs.end() && at->first < range.end && next < range.end; ++at) {
      if (at->second.end <= next)
        continue;
      if (at->first > next)
        break;
      if (at->second.buffer != buffer)
        return Stranger{next, at->second.buffer};
      next = at->second.end;
    }
  }
  if (next < range.end)
    return Stranger{next, -1};
  return std::nullopt;
}

std::vector<ByteRange> BufferContents::piecesOf(const ByteRange &range, int64_t buffer) const {
  std::vector<ByteRange> pieces;
  auto space = owned.find(range.space);
  if (space == owned.end())
    return pieces;
  const auto &runs = space->second;
  auto at = runs.upper_bound(range.begin);
  if (at != runs.begin())
    --at;
  for (; at != runs.end() && at->first < range.end; ++at) {
    ByteRange piece = {range.space, std::max(at->first, range.begin),
                       std::min(at->second.end, range.end)};
    if (at->second.buffer == buffer && piece.begin < piece.end)
      pieces.push_back(piece);
  }
  return pieces;
}

void BufferContents::begin(int64_t event, const ByteRange &input, const ByteRange &output) {
  flights.push_back({event, input, output});
}

void BufferContents::end(int64_t event) {
  llvm::erase_if(flights, [&](const Flight &flight) { return flight.event == event; });
}

std::optional<int64_t> BufferContents::whoForbidsRead(const ByteRange &range) const {
  for (const Flight &flight : flights)
    if (flight.output.overlaps(range))
      return flight.event;
  return std::nullopt;
}

std::optional<int64_t> BufferContents::whoForbidsWrite(const ByteRange &range) const {
  for (const Flight &flight : flights)
    if (flight.output.overlaps(range) || flight.input.overlaps(range))
      return flight.event;
  return std::nullopt;
}

// Finds the rank that differs from the others, and the words for it.

#include "runtime/src/check/Causes.h"

#include "runtime/src/base/Hex.h"
#include "runtime/src/base/Phrases.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace dpc {

namespace {

class Comparison {
public:
  explicit Comparison(const Gathered &all)
      : all(all), ranks(static_cast<uint32_t>(all.arrivals.size())), causes(ranks) {}

  std::vector<std::string> run();

private:
  using TextOf = std::function<std::string(uint32_t)>;

  bool isHere(uint32_t rank) const { return all.arrivals[rank].isHere != 0; }
  void compare(const char *what, const TextOf &textOf, const char *remedy = "");
  void addOwn();
  void addUnreached();
  void compareDevices();
  void addMemory();

  const Gathered &all;
  const uint32_t ranks;
  std::vector<std::string> causes;
};

/// Gives a cause to each rank whose text is not the most frequent one.
void Comparison::compare(const char *what, const TextOf &textOf, const char *remedy) {
  uint32_t model = 0;
  std::ptrdiff_t most = 0;
  std::vector<std::string> texts(ranks);
  for (uint32_t r = 0; r < ranks; ++r)
    texts[r] = isHere(r) && causes[r].empty() ? textOf(r) : "";
  for (uint32_t r = 0; r < ranks; ++r) {
    const std::ptrdiff_t equal = std::count(texts.begin(), texts.end(), texts[r]);
    if (!texts[r].empty() && equal > most) {
      model = r;
      most = equal;
    }
  }
  for (uint32_t r = 0; r < ranks; ++r)
    if (!texts[r].empty() && texts[r] != texts[model])
      causes[r] = std::string("has ") + what + texts[r] + ", " + rankText(all, model) + " has " +
                  texts[model] + remedy;
}

/// Adds what ranks have found out by themselves.
void Comparison::addOwn() {
  uint32_t able = 0; // a rank that lacks nothing
  while (able < ranks && all.findings[able].status != DPC_OK)
    ++able;
  for (uint32_t r = 0; r < ranks; ++r) {
    const Findings &own = all.findings[r];
    if (!causes[r].empty() || own.status == DPC_OK)
      continue;
    causes[r] = own.text;
    if (own.status == DPC_IO && able < ranks)
      causes[r] += "; " + rankText(all, able) + " has it";
  }
}

/// A rank that others cannot reach is the cause, and not those others.
void Comparison::addUnreached() {
  for (uint32_t to = 0; to < ranks; ++to)
    for (uint32_t r = to + 1; r < ranks && r - to <= kMostCalls && causes[to].empty(); ++r)
      if (const int error = all.findings[r].unreached[r - to - 1])
        causes[to] = rankText(all, r) + " cannot reach its address " + all.findings[to].address +
                     ": " + std::strerror(error);
}

void Comparison::compareDevices() {
  for (uint32_t r = 0; r < ranks; ++r)
    for (uint32_t other = 0; other < r && all.hasDevicePerRank && causes[r].empty(); ++other)
      if (all.findings[r].device[0] && areOnOneHost(all, r, other) &&
          std::memcmp(all.findings[r].deviceId, all.findings[other].deviceId,
                      sizeof all.findings[r].deviceId) == 0)
        causes[r] = std::string("has the same device (") + all.findings[r].device + ") as " +
                    rankText(all, other) + ", and NCCL wants one for each";
}

/// The ranks of a host, or of a device, share its memory.
void Comparison::addMemory() {
  const auto share = [&](uint32_t a, uint32_t b) {
    return isHere(a) && isHere(b) && areOnOneHost(all, a, b) &&
           std::memcmp(all.findings[a].deviceId, all.findings[b].deviceId,
                       sizeof all.findings[a].deviceId) == 0;
  };
  for (uint32_t r = 0; r < ranks; ++r) {
    uint64_t needed = 0, count = 0;
    for (uint32_t other = 0; other < ranks; ++other)
      if (share(r, other)) {
        needed += all.findings[other].needed;
        ++count;
      }
    const Findings &own = all.findings[r];
    if (!causes[r].empty() || needed + own.forLibraries <= own.available)
      continue;
    causes[r] = std::string("its ") + (own.device[0] ? "device" : "host") + " has " +
                bytesText(own.available) + " of free memory" +
                (own.forLibraries
                     ? ", of which " + bytesText(own.forLibraries) + " must stay free for libraries"
                     : "") +
                ", and the " + countOf(count, "rank") + " there need " + bytesText(needed);
  }
}

std::vector<std::string> Comparison::run() {
  char absent[64];
  std::snprintf(absent, sizeof absent, "did not join within %g s", all.seconds);
  for (uint32_t r = 0; r < ranks; ++r)
    if (!isHere(r))
      causes[r] = absent;
  compare("", [&](uint32_t r) { return std::string(all.arrivals[r].runtime); });
  if (all.findings.empty())
    return causes;
  compare(
      "the program ", [&](uint32_t r) { return toHex(all.findings[r].plan.data(), 6); },
      " (the beginnings of their plan hashes): copy one file to all hosts");
  compare("--comm=", [&](uint32_t r) { return std::string(all.findings[r].comm); });
  addOwn();
  compare("", [&](uint32_t r) { return std::string(all.findings[r].engine); });
  addUnreached();
  compareDevices();
  addMemory();
  return causes;
}

} // namespace

std::vector<std::string> findCauses(const Gathered &all) { return Comparison(all).run(); }

bool areOnOneHost(const Gathered &all, uint32_t a, uint32_t b) {
  return a == b || (!all.hosts.empty() && all.hosts[a] == all.hosts[b]);
}

static std::string hostText(const Arrival &arrival) {
  return arrival.isHere ? std::string(" (") + arrival.host + ")" : "";
}

std::string rankText(const Gathered &all, uint32_t rank) {
  return "rank " + std::to_string(rank) + hostText(all.arrivals[rank]);
}

std::string causeLines(const Gathered &all, const std::vector<std::string> &causes) {
  std::string out;
  std::vector<bool> isDone(causes.size());
  for (uint32_t r = 0; r < causes.size(); ++r) {
    if (isDone[r] || causes[r].empty())
      continue;
    std::vector<std::string> numbers;
    for (uint32_t other = r; other < causes.size(); ++other)
      if (causes[other] == causes[r] &&
          hostText(all.arrivals[other]) == hostText(all.arrivals[r])) {
        numbers.push_back(std::to_string(other));
        isDone[other] = true;
      }
    out += (numbers.size() == 1 ? "rank " : "ranks ") + listNames(numbers) +
           hostText(all.arrivals[r]) + ": " + causes[r] + "\n";
  }
  return out;
}

} // namespace dpc

// Computes times of collectives on the levels of a topology.

#include "planning/CollectiveTimes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace dpc;

namespace {

/// One level that a collective crosses.
struct Crossing {
  const LinkLevel &level;
  bool isInnermost;
  /// Units of the level inside, and members in each of them.
  double units, inside;
  /// The bandwidth of all members of one unit inside together.
  double bytesPerSecond;
};

std::vector<Crossing> crossingsOf(const Topology &topology, const GroupPlaces &places) {
  std::vector<Crossing> crossings;
  for (auto [number, level] : llvm::enumerate(topology.levels)) {
    if (!places.crosses(number))
      continue;
    const double inside = places.membersInside(number);
    double bandwidth = inside * level.bytesPerSecond;
    if (level.unitBytesPerSecond > 0)
      bandwidth = std::min(bandwidth, level.unitBytesPerSecond / places.sharing[number]);
    crossings.push_back({level, number == 0, double(places.units[number]), inside, bandwidth});
  }
  return crossings;
}

/// The time of the steps and of the bytes of one phase.
struct Phase {
  double startSeconds = 0, secondsPerByte = 0;
};

/// All levels move bytes at the same time, and the slowest one sets the pace. `shareOf` returns the
/// share of the buffer that passes the border of a unit.
Phase flatPhase(llvm::ArrayRef<Crossing> crossings, double members,
                llvm::function_ref<double(const Crossing &)> shareOf) {
  Phase phase;
  double slowestStep = 0;
  for (const Crossing &each : crossings) {
    phase.secondsPerByte = std::max(phase.secondsPerByte, shareOf(each) / each.bytesPerSecond);
    slowestStep = std::max(slowestStep, each.level.stepSeconds);
  }
  phase.startSeconds = (members - 1) * slowestStep;
  return phase;
}

Phase directPhase(llvm::ArrayRef<Crossing> crossings, double members) {
  return flatPhase(crossings, members, [&](const Crossing &each) {
    return each.inside * (members - each.inside) / members * each.level.hopsBetween(each.units);
  });
}

Phase ringPhase(llvm::ArrayRef<Crossing> crossings, double members) {
  return flatPhase(crossings, members, [&](const Crossing &) { return (members - 1) / members; });
}

/// The way up of sums: along the chain of the innermost units, and up trees outside of them.
Phase treePhase(llvm::ArrayRef<Crossing> crossings) {
  Phase phase;
  for (const Crossing &each : crossings) {
    const double steps = each.isInnermost ? each.units - 1 : std::ceil(std::log2(each.units));
    phase.startSeconds += steps * each.level.stepSeconds;
    phase.secondsPerByte = std::max(phase.secondsPerByte, 1 / each.bytesPerSecond);
  }
  return phase;
}

/// One half: the way out, or the way back. The levels follow each other.
Phase hierarchicalPhase(llvm::ArrayRef<Crossing> crossings) {
  Phase phase;
  for (const Crossing &each : crossings) {
    phase.startSeconds += (each.units - 1) * each.level.stepSeconds;
    phase.secondsPerByte += (each.units - 1) / each.units / each.bytesPerSecond;
  }
  return phase;
}

/// The complete collective, because sums come back while members still send.
Phase networkPhase(llvm::ArrayRef<Crossing> crossings, CollectiveKind kind, double members) {
  Phase phase;
  for (const Crossing &each : crossings) {
    phase.startSeconds += 2 * each.level.stepSeconds;
    // In an all-reduce, a member sends and receives the complete buffer; otherwise, it does so in
    // one direction, except for its own part.
    const double share = kind == CollectiveKind::allReduce ? 1 : (members - 1) / members;
    phase.secondsPerByte = std::max(phase.secondsPerByte, share / each.bytesPerSecond);
  }
  return phase;
}

} // namespace

std::optional<CollectiveTime> dpc::timeOf(const Topology &topology, CollectiveKind kind,
                                          CollectiveAlgorithm algorithm,
                                          const GroupPlaces &places) {
  const std::vector<Crossing> crossings = crossingsOf(topology, places);
  const double members = places.members;
  const bool isAllReduce = kind == CollectiveKind::allReduce;
  int phases = isAllReduce ? 2 : 1;
  Phase phase;
  switch (algorithm) {
  case CollectiveAlgorithm::direct:
    phase = directPhase(crossings, members);
    break;
  case CollectiveAlgorithm::rings:
    if (kind == CollectiveKind::allToAll)
      return std::nullopt;
    phase = ringPhase(crossings, members);
    break;
  case CollectiveAlgorithm::trees:
    if (!isAllReduce)
      return std::nullopt;
    phase = treePhase(crossings);
    break;
  case CollectiveAlgorithm::hierarchical:
    if (!isAllReduce)
      return std::nullopt;
    phase = hierarchicalPhase(crossings);
    break;
  case CollectiveAlgorithm::inNetwork:
    if (kind == CollectiveKind::allToAll ||
        llvm::any_of(crossings, [](const Crossing &each) { return !each.level.sumsInNetwork; }))
      return std::nullopt;
    phase = networkPhase(crossings, kind, members);
    phases = 1;
    break;
  }
  CollectiveTime time;
  time.startSeconds = topology.startSeconds[size_t(kind)] + phases * phase.startSeconds;
  for (const Crossing &each : crossings)
    time.startSeconds += each.level.startSeconds;
  time.bytesPerSecond = 1 / (phases * phase.secondsPerByte);
  return time;
}

double dpc::collectiveSeconds(const Topology &topology, Transport transport, CollectiveKind kind,
                              const GroupPlaces &places, double bytes) {
  using Algorithm = CollectiveAlgorithm;
  if (transport == Transport::wires || kind == CollectiveKind::allToAll)
    return timeOf(topology, kind, Algorithm::direct, places)->seconds(bytes);
  double least = std::numeric_limits<double>::infinity();
  for (Algorithm algorithm :
       {Algorithm::rings, Algorithm::trees, Algorithm::hierarchical, Algorithm::inNetwork})
    if (std::optional<CollectiveTime> time = timeOf(topology, kind, algorithm, places))
      least = std::min(least, time->seconds(bytes));
  return least;
}

double dpc::messageSeconds(const Topology &topology, const GroupPlaces &places, double bytes) {
  double seconds = topology.messageStartSeconds, secondsPerByte = 0;
  for (const Crossing &each : crossingsOf(topology, places)) {
    seconds += each.level.startSeconds + each.level.stepSeconds;
    secondsPerByte = std::max(secondsPerByte, 1 / each.bytesPerSecond);
  }
  return seconds + bytes * secondsPerByte;
}

// Computes times of collectives on the levels of a topology.

#include "planning/CollectiveTimes.h"

#include <algorithm>
#include <cassert>

using namespace dpc;

/// What `members` devices of one unit inside `level` send through it together.
static double unitBandwidth(const Level &level, int64_t members) {
  const double all = members * level.bytesPerSecond;
  return level.unitBytesPerSecond > 0 ? std::min(all, level.unitBytesPerSecond) : all;
}

CollectiveTime dpc::timeOf(const Topology &topology, CollectiveKind kind,
                           CollectiveAlgorithm algorithm, const GroupPlaces &places) {
  assert(places.members > 1 && "a collective has at least two members");
  const double members = places.members;
  const int phases = kind == CollectiveKind::allReduce ? 2 : 1;
  const bool isDirect =
      algorithm == CollectiveAlgorithm::direct || kind == CollectiveKind::allToAll;
  CollectiveTime time;
  time.startSeconds = topology.startSeconds[size_t(kind)];
  double secondsPerByte = 0, slowestStep = 0;
  for (size_t i = 0; i < topology.levels.size(); ++i) {
    if (!places.crosses(i))
      continue;
    const Level &level = topology.levels[i];
    const double inside = places.membersInside(i);
    // The share of the buffer that passes the border of a unit, for each of its members if parts
    // are sent directly, and for all of them together in rings.
    const double share = isDirect ? inside * (members - inside) / members : (members - 1) / members;
    secondsPerByte = std::max(secondsPerByte, share / unitBandwidth(level, inside));
    slowestStep = std::max(slowestStep, level.stepSeconds);
    time.startSeconds += level.startSeconds;
  }
  time.startSeconds += phases * (members - 1) * slowestStep;
  time.bytesPerSecond = 1 / (phases * secondsPerByte);
  return time;
}

// Checks a topology, and finds the levels that connect a group of ranks.

#include "planning/Topology.h"

#include "planning/Numbers.h"

#include <algorithm>
#include <map>
#include <set>

using namespace llvm;
using namespace dpc;

/// The average distance between two different places of a ring of `count`.
static double hopsOfRing(int64_t count) {
  // From one place, the distances to all places add up to count^2 / 4, rounded down.
  return count > 1 ? double(count * count / 4) / double(count - 1) : 0;
}

double LinkLevel::hopsBetween(int64_t units) const {
  if (shape == LevelShape::switched || units < 2)
    return 1;
  if (shape == LevelShape::ring)
    return hopsOfRing(units);
  int64_t width = 1;
  for (int64_t factor = 2; factor * factor <= units; ++factor)
    if (units % factor == 0)
      width = factor;
  const int64_t height = units / width;
  // The distances in both dimensions add up. The average counts a place itself in each of them.
  const double sum =
      hopsOfRing(width) * (width - 1) / width + hopsOfRing(height) * (height - 1) / height;
  return sum * units / (units - 1);
}

int64_t Topology::countDevices() const {
  int64_t count = 1;
  for (const LinkLevel &level : levels) {
    if (level.size == 0)
      return kMostDevices;
    count *= level.size;
  }
  return count;
}

Error Topology::check() const {
  if (Error error = device.check())
    return error;
  for (double start : startSeconds)
    if (Error error = checkNumber("a collective", "time to start", start, true))
      return error;
  if (Error error = checkNumber("a message", "time to start", messageStartSeconds, true))
    return error;
  if (levels.empty())
    return planError("there are no levels");
  int64_t devices = 1;
  for (const LinkLevel &level : levels) {
    const std::string owner = "level '" + level.name + "'";
    const bool isOutermost = &level == &levels.back();
    if (level.size == 0 && !isOutermost)
      return planError("{0} has no size, which only the outermost level may leave out", owner);
    if (level.size < 0 || level.size > kMostDevices / devices)
      return planError(
          "{0} has the size {1}, which must be 1 or more, and give at most {2} devices", owner,
          level.size, int64_t(kMostDevices));
    devices *= level.size;
    if (Error error = checkNumber(owner, "bandwidth", level.bytesPerSecond, false))
      return error;
    if (Error error = checkNumber(owner, "bandwidth of a unit", level.unitBytesPerSecond, true))
      return error;
    if (Error error = checkNumber(owner, "time of a step", level.stepSeconds, true))
      return error;
    if (Error error = checkNumber(owner, "time to start", level.startSeconds, true))
      return error;
  }
  return Error::success();
}

Topology dpc::makeFlatTopology(std::string name, Device device, double bytesPerSecond,
                               double startSeconds) {
  LinkLevel level;
  level.name = name;
  level.size = 0;
  level.bytesPerSecond = bytesPerSecond;
  level.startSeconds = startSeconds;
  Topology topology;
  topology.name = std::move(name);
  topology.device = std::move(device);
  topology.levels = {std::move(level)};
  return topology;
}

/// The unit of the level outside that holds `unit`.
static int64_t unitOutside(const LinkLevel &level, int64_t unit) {
  return level.size == 0 ? 0 : unit / level.size;
}

GroupPlaces::GroupPlaces(const Topology &topology, ArrayRef<int64_t> ranks)
    : sharing(topology.levels.size(), 1), members(ranks.size()) {
  std::set<int64_t> inside(ranks.begin(), ranks.end());
  for (const LinkLevel &level : topology.levels) {
    std::map<int64_t, int64_t> counts;
    std::set<int64_t> outside;
    for (int64_t unit : inside) {
      ++counts[unitOutside(level, unit)];
      outside.insert(unitOutside(level, unit));
    }
    int64_t most = 1;
    for (const auto &[unit, count] : counts)
      most = std::max(most, count);
    units.push_back(most);
    inside = std::move(outside);
  }
}

int64_t GroupPlaces::membersInside(size_t level) const {
  int64_t count = 1;
  for (size_t i = 0; i < level; ++i)
    count *= units[i];
  return std::min(count, members);
}

std::vector<GroupPlaces> dpc::placesOf(const Topology &topology,
                                       ArrayRef<SmallVector<int64_t>> groups) {
  std::vector<GroupPlaces> places;
  // By level: for each unit inside it, the groups that cross its border.
  std::vector<std::map<int64_t, int64_t>> crossing(topology.levels.size());
  for (ArrayRef<int64_t> group : groups) {
    const GroupPlaces own(topology, group);
    if (llvm::none_of(places, [&](const GroupPlaces &each) {
          return each.units == own.units && each.members == own.members;
        }))
      places.push_back(own);
    std::set<int64_t> inside(group.begin(), group.end());
    for (auto [number, level] : llvm::enumerate(topology.levels)) {
      std::set<int64_t> outside;
      for (int64_t unit : inside) {
        if (own.crosses(number))
          ++crossing[number][unit];
        outside.insert(unitOutside(level, unit));
      }
      inside = std::move(outside);
    }
  }
  for (GroupPlaces &each : places)
    for (size_t number = 0; number < crossing.size(); ++number)
      for (const auto &[unit, count] : crossing[number])
        each.sharing[number] = std::max(each.sharing[number], count);
  return places;
}

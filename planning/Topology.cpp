// Checks a topology, and finds the levels that connect a group of ranks.

#include "planning/Topology.h"

#include "planning/PlanError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace llvm;
using namespace dpc;

int64_t Topology::countDevices() const {
  int64_t count = 1;
  for (const Level &level : levels)
    count *= level.size;
  return count;
}

std::string dpc::numberText(double number) {
  std::string text;
  raw_string_ostream(text) << format("%g", number);
  return text;
}

/// Fails if `value`, which is the `what` of `owner`, is not finite or is below 0, or is 0 unless
/// `mayBeZero`.
static Error checkNumber(const Twine &owner, StringRef what, double value, bool mayBeZero) {
  if (std::isfinite(value) && (value > 0 || (mayBeZero && value == 0)))
    return Error::success();
  return planError("{0} has the {1} {2}, which must be {3}", owner.str(), what, numberText(value),
                   mayBeZero ? "0 or more, and finite" : "above 0, and finite");
}

Error Topology::check() const {
  if (Error error = checkNumber("the device", "memory", memoryBytes, false))
    return error;
  if (Error error = checkNumber("the device", "memory bandwidth", memoryBytesPerSecond, false))
    return error;
  if (Error error = checkNumber("the device", "launch time", launchSeconds, true))
    return error;
  for (const auto &rate : flopsPerSecond)
    if (Error error =
            checkNumber("the device", ("rate of " + rate.first()).str(), rate.second, false))
      return error;
  for (double start : startSeconds)
    if (Error error = checkNumber("a collective", "time to start", start, true))
      return error;
  if (levels.empty())
    return planError("there are no levels");
  int64_t devices = 1;
  for (const Level &level : levels) {
    const std::string owner = "level '" + level.name + "'";
    constexpr int64_t kMostDevices = 1 << 24;
    if (level.size < 1 || level.size > kMostDevices / devices)
      return planError(
          "{0} has the size {1}, which must be 1 or more, and give at most {2} devices", owner,
          level.size, kMostDevices);
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

GroupPlaces::GroupPlaces(const Topology &topology, ArrayRef<int64_t> ranks)
    : members(ranks.size()) {
  std::set<int64_t> inside(ranks.begin(), ranks.end());
  for (const Level &level : topology.levels) {
    std::map<int64_t, int64_t> counts;
    std::set<int64_t> outside;
    for (int64_t unit : inside) {
      ++counts[unit / level.size];
      outside.insert(unit / level.size);
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

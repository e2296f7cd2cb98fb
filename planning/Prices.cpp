// Computes the prices of collectives and messages.

#include "planning/Prices.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace dpc {

/// A copy that reorders data is priced as this share of a pass over memory. The share is small
/// because the op that makes or reads the data usually reorders it at the same time.
static constexpr double kReorderShare = 0.1;

double reorderSeconds(const Device &device, double bytes) {
  return workSeconds(device, {/*flops=*/0, kReorderShare * bytes, KernelClass::copy});
}

double bytesSent(CollectiveKind kind, double bytes, int64_t members) {
  const double passes = kind == CollectiveKind::allReduce ? 2 : 1;
  return passes * bytes * (members - 1) / members;
}

MeshPrices::MeshPrices(Machine machine, llvm::ArrayRef<std::pair<std::string, int64_t>> axes)
    : shared(std::make_shared<Shared>()) {
  shared->machine = std::move(machine);
  shared->axes = axes;
}

uint64_t MeshPrices::setOf(llvm::ArrayRef<llvm::StringRef> axes) const {
  uint64_t set = 0;
  for (auto [number, axis] : llvm::enumerate(shared->axes))
    if (llvm::is_contained(axes, axis.first))
      set |= uint64_t(1) << number;
  return set;
}

/// Whether the set of axes `set` has the axis `number`.
static bool has(uint64_t set, size_t number) { return set >> number & 1; }

std::vector<llvm::SmallVector<int64_t>> MeshPrices::groupsOfSet(uint64_t set) const {
  int64_t ranks = 1;
  for (const auto &[name, size] : shared->axes)
    ranks *= size;
  // By the first rank of a group: ranks with equal coordinates on all other axes.
  std::map<int64_t, llvm::SmallVector<int64_t>> groups;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t stride = 1, first = rank;
    for (size_t number = shared->axes.size(); number-- > 0;) {
      const int64_t size = shared->axes[number].second;
      if (has(set, number))
        first -= rank / stride % size * stride;
      stride *= size;
    }
    groups[first].push_back(rank);
  }
  auto lists = llvm::make_second_range(groups);
  return {lists.begin(), lists.end()};
}

llvm::ArrayRef<GroupPlaces> MeshPrices::placesOver(uint64_t set, bool asPairs) const {
  std::lock_guard<std::mutex> lock(shared->mutex);
  auto &places = asPairs ? shared->pairPlaces : shared->places;
  auto known = places.find(set);
  if (known != places.end())
    return known->second;
  std::vector<llvm::SmallVector<int64_t>> groups = groupsOfSet(set);
  if (asPairs) {
    std::vector<llvm::SmallVector<int64_t>> pairs;
    for (llvm::ArrayRef<int64_t> group : groups)
      for (size_t i = 0; i + 1 < group.size(); ++i)
        pairs.push_back({group[i], group[i + 1]});
    if (!pairs.empty()) // an axis of one rank has no messages
      groups = std::move(pairs);
  }
  return places.emplace(set, placesOf(shared->machine.topology, groups)).first->second;
}

std::vector<llvm::SmallVector<int64_t>>
MeshPrices::groupsOver(llvm::ArrayRef<llvm::StringRef> axes,
                       llvm::ArrayRef<int64_t> coordinates) const {
  std::vector<llvm::SmallVector<int64_t>> groups = groupsOfSet(setOf(axes));
  if (coordinates.empty())
    return groups;
  for (llvm::SmallVector<int64_t> &group : groups) {
    llvm::SmallVector<int64_t> members;
    for (int64_t coordinate : coordinates)
      if (coordinate < int64_t(group.size()))
        members.push_back(group[coordinate]);
    group = std::move(members);
  }
  return groups;
}

Price MeshPrices::collectiveOn(CollectiveKind kind, double bytes,
                               llvm::ArrayRef<GroupPlaces> places) const {
  const Machine &machine = shared->machine;
  Price price;
  for (const GroupPlaces &group : places) {
    price.seconds = std::max(
        price.seconds, collectiveSeconds(machine.topology, machine.transport, kind, group, bytes));
    price.bytes = std::max(price.bytes, bytesSent(kind, bytes, group.members));
  }
  return price;
}

Price MeshPrices::collective(CollectiveKind kind, double bytes,
                             llvm::ArrayRef<llvm::StringRef> axes) const {
  return collectiveOn(kind, bytes, placesOver(setOf(axes), /*asPairs=*/false));
}

Price MeshPrices::collective(CollectiveKind kind, double bytes, llvm::StringRef axis,
                             llvm::ArrayRef<int64_t> coordinates) const {
  return collectiveOn(kind, bytes,
                      placesOf(shared->machine.topology, groupsOver({axis}, coordinates)));
}

Price MeshPrices::message(double bytes, llvm::StringRef axis) const {
  double seconds = 0;
  for (const GroupPlaces &pair : placesOver(setOf(axis), /*asPairs=*/true))
    seconds = std::max(seconds, messageSeconds(shared->machine.topology, pair, bytes));
  return {seconds, bytes};
}

} // namespace dpc

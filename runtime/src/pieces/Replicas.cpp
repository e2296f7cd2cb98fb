// Finds which ranks have which elements of a state, by the placements of the program.

#include "runtime/src/pieces/Replicas.h"

#include "runtime/src/base/Placement.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace dpc {

namespace {

/// If a rank has more runs than this, it writes its elements as fewer segments, in
/// another order than the order of its buffer. The reason is that the time to read a
/// tensor grows with the number of segments.
constexpr size_t kMostRuns = 16;

/// Groups the ranks that own equal lists of elements: makes one group per list.
std::vector<Replicas> groupOwners(const dpc_state_t &state, uint32_t worldSize) {
  std::vector<Replicas> groups;
  for (uint32_t rank = 0; rank < worldSize; ++rank) {
    const dpc_placement_t &place = state.placements[rank];
    std::vector<Segments> segments = segmentsOf(place);
    if (!place.owner || segments.empty())
      continue;
    if (segments.size() > kMostRuns)
      segments = compacted(segments);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Replicas &each) { return each.segments == segments; });
    if (group == groups.end())
      group = groups.insert(groups.end(), {std::move(segments), {}});
    group->ranks.push_back(rank);
  }
  return groups;
}

/// Splits overlapping groups into disjoint groups. Each group of the result has all
/// elements whose owners are exactly the ranks of the group. Groups overlap if one
/// part of a dimension is sharded and another part is replicated.
std::vector<Replicas> separate(const std::vector<Replicas> &groups) {
  // The positions in the tensor where a contiguous range of a group begins (+1) or
  // ends (-1).
  std::vector<std::tuple<uint64_t, uint32_t, int>> edges;
  for (uint32_t g = 0; g < groups.size(); ++g)
    forEachOverlap(groups[g].segments, 0, UINT64_MAX,
                   [&](uint64_t begin, uint64_t length, uint64_t) {
                     edges.emplace_back(begin, g, 1);
                     edges.emplace_back(begin + length, g, -1);
                   });
  std::sort(edges.begin(), edges.end());
  std::map<std::vector<uint32_t>, std::vector<Interval>> parts; // keyed by indices of groups
  std::map<uint32_t, int> open;
  std::vector<uint32_t> holders;
  for (size_t e = 0; e < edges.size();) {
    const uint64_t at = std::get<0>(edges[e]);
    for (; e < edges.size() && std::get<0>(edges[e]) == at; ++e) {
      const auto [place, group, change] = edges[e];
      if ((open[group] += change) == 0)
        open.erase(group);
    }
    holders.clear();
    for (const auto &[group, count] : open)
      holders.push_back(group);
    if (!holders.empty())
      parts[holders].push_back({at, std::get<0>(edges[e])});
  }
  std::vector<Replicas> out;
  for (const auto &[having, intervals] : parts) {
    out.push_back({segmentsOf(intervals), {}});
    for (uint32_t group : having)
      out.back().ranks.insert(out.back().ranks.end(), groups[group].ranks.begin(),
                              groups[group].ranks.end());
    std::sort(out.back().ranks.begin(), out.back().ranks.end());
  }
  return out;
}

} // namespace

std::vector<Replicas> findReplicas(const dpc_state_t &state, uint32_t worldSize) {
  std::vector<Replicas> groups = groupOwners(state, worldSize);
  uint64_t sum = 0;
  for (const Replicas &group : groups)
    sum += elementsOf(group.segments);
  return sum == elementCount(state.shape, state.dim_count) ? groups : separate(groups);
}

} // namespace dpc

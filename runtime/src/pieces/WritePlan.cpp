// Distributes the writing of state over the ranks. Takes the largest tensors first.
// Among the ranks that own the same elements of a tensor, the rank that has the least
// to write so far writes these elements (Graham, "Bounds on multiprocessing timing
// anomalies", 1969).

#include "runtime/src/pieces/WritePlan.h"

#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace dpc {

namespace {

/// If a rank has more runs than this, it writes its elements as fewer segments, in
/// another order than the order of its buffer. The reason is that the time to read a
/// tensor grows with the number of segments.
constexpr size_t kMostRuns = 16;

/// A set of elements, and all ranks that own them.
struct Shared {
  std::vector<Segments> segments;
  std::vector<uint32_t> ranks;
};

/// Groups the ranks that own equal lists of elements: makes one group per list.
std::vector<Shared> groupOwners(const dpc_state_t &state, uint32_t worldSize) {
  std::vector<Shared> groups;
  for (uint32_t rank = 0; rank < worldSize; ++rank) {
    const dpc_placement_t &place = state.placements[rank];
    std::vector<Segments> segments = segmentsOf(place);
    if (!place.owner || segments.empty())
      continue;
    if (segments.size() > kMostRuns)
      segments = compacted(segments);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Shared &each) { return each.segments == segments; });
    if (group == groups.end())
      group = groups.insert(groups.end(), {std::move(segments), {}});
    group->ranks.push_back(rank);
  }
  return groups;
}

/// Splits overlapping groups into disjoint groups. Each group of the result has all
/// elements whose owners are exactly the ranks of the group. Groups overlap if one
/// part of a dimension is sharded and another part is replicated.
std::vector<Shared> separate(const std::vector<Shared> &groups) {
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
  std::vector<Shared> out;
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

dpc_status_t planWriting(const dpc_program_t &program, std::vector<PlannedPiece> *out) {
  auto bytesOf = [&](uint32_t state) {
    const dpc_state_t &record = program.states[state];
    return elementCount(record.shape, record.dim_count) * dpc_dtype_size(record.dtype);
  };
  std::vector<uint32_t> order(program.state_count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return bytesOf(a) > bytesOf(b); });
  std::vector<uint64_t> load(program.world_size);
  out->clear();
  for (uint32_t index : order) {
    const dpc_state_t &state = program.states[index];
    const uint64_t elements = elementCount(state.shape, state.dim_count);
    std::vector<Shared> groups = groupOwners(state, program.world_size);
    std::vector<const std::vector<Segments> *> cover;
    auto coverElements = [&] {
      uint64_t sum = 0;
      cover.clear();
      for (const Shared &group : groups) {
        cover.push_back(&group.segments);
        sum += elementsOf(group.segments);
      }
      return sum;
    };
    if (coverElements() != elements) {
      groups = separate(groups);
      coverElements();
    }
    if (dpc_status_t status = checkCover(cover, elements))
      return failWithin(status, "state \"%s\"", state.name);
    std::map<uint32_t, std::vector<Segments>> pieces; // keyed by the rank that writes
    for (Shared &group : groups) {
      const uint32_t writer =
          *std::min_element(group.ranks.begin(), group.ranks.end(),
                            [&](uint32_t a, uint32_t b) { return load[a] < load[b]; });
      load[writer] += elementsOf(group.segments) * dpc_dtype_size(state.dtype);
      std::vector<Segments> &its = pieces[writer];
      its.insert(its.end(), group.segments.begin(), group.segments.end());
    }
    for (auto &[writer, segments] : pieces)
      out->push_back({index, writer, std::move(segments)});
  }
  std::sort(out->begin(), out->end(), [](const PlannedPiece &a, const PlannedPiece &b) {
    return std::tie(a.state, a.rank) < std::tie(b.state, b.rank);
  });
  return DPC_OK;
}

} // namespace dpc

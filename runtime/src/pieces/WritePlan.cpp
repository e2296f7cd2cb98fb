// Shares out the writing of state: largest tensors first, each to the rank that
// has least (Graham, "Bounds on multiprocessing timing anomalies", 1969).

#include "runtime/src/pieces/WritePlan.h"

#include "runtime/src/base/Placement.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace dpc {

std::vector<PlannedPiece> planWriting(const dpc_program_t &program) {
  auto bytesOf = [&](uint32_t state) {
    const dpc_state_t &record = program.states[state];
    return elementCount(record.shape, record.dim_count) * dpc_dtype_size(record.dtype);
  };
  std::vector<uint32_t> order(program.state_count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return bytesOf(a) > bytesOf(b); });
  std::vector<uint64_t> load(program.world_size);
  std::vector<PlannedPiece> out;
  for (uint32_t state : order) {
    struct Holders {
      std::vector<Segments> segments;
      std::vector<uint32_t> ranks;
    };
    std::vector<Holders> groups;
    for (uint32_t rank = 0; rank < program.world_size; ++rank) {
      const dpc_placement_t &place = program.states[state].placements[rank];
      std::vector<Segments> segments = segmentsOf(place);
      if (!place.owner || segments.empty())
        continue;
      auto group = std::find_if(groups.begin(), groups.end(),
                                [&](const Holders &each) { return each.segments == segments; });
      if (group == groups.end())
        group = groups.insert(groups.end(), {std::move(segments), {}});
      group->ranks.push_back(rank);
    }
    for (Holders &group : groups) {
      const uint32_t writer =
          *std::min_element(group.ranks.begin(), group.ranks.end(),
                            [&](uint32_t a, uint32_t b) { return load[a] < load[b]; });
      load[writer] += elementsOf(group.segments) * dpc_dtype_size(program.states[state].dtype);
      out.push_back({state, writer, std::move(group.segments)});
    }
  }
  std::sort(out.begin(), out.end(), [](const PlannedPiece &a, const PlannedPiece &b) {
    return std::tie(a.state, a.rank) < std::tie(b.state, b.rank);
  });
  return out;
}

} // namespace dpc

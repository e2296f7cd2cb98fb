// Distributes the writing of state over the ranks. Takes the largest tensors first.
// Among the ranks that own the same elements of a tensor, the rank that has the least
// to write so far writes these elements (Graham, "Bounds on multiprocessing timing
// anomalies", 1969).

#include "runtime/src/pieces/WritePlan.h"

#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/pieces/Replicas.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace dpc {

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
    const std::vector<Replicas> groups = findReplicas(state, program.world_size);
    std::vector<const std::vector<Segments> *> cover;
    for (const Replicas &group : groups)
      cover.push_back(&group.segments);
    if (dpc_status_t status = checkCover(cover, elements))
      return failWithin(status, "state \"%s\"", state.name);
    std::map<uint32_t, std::vector<Segments>> pieces; // keyed by the rank that writes
    for (const Replicas &group : groups) {
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

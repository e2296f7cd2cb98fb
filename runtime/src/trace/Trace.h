#ifndef DPC_RUNTIME_SRC_TRACE_TRACE_H
#define DPC_RUNTIME_SRC_TRACE_TRACE_H

#include "dpc/program.h"
#include "dpc/status.h"

#include <string>
#include <vector>

namespace dpc {

/// What one action took. Communication is recorded at its wait: `beginNs` is
/// its start, `exposedNs` how long the rank stood still for it.
struct TraceEvent {
  const dpc_action_t *action;
  uint64_t step;
  int64_t beginNs;
  int64_t endNs;
  int64_t exposedNs;
  uint32_t micro;
};

/// Events of one rank, kept in memory taken at the start and written at the end
/// as Chrome JSON (Perfetto opens it). When the memory is full further events
/// are counted and dropped.
class Trace {
public:
  void enable(size_t capacity) { events.reserve(capacity); }
  bool enabled() const { return events.capacity() != 0; }
  bool empty() const { return events.empty(); }
  void add(const TraceEvent &event) {
    if (events.size() < events.capacity())
      events.push_back(event);
    else
      ++dropped;
  }
  /// The file of a rank: `path` for rank 0, otherwise with ".rank<N>" before
  /// its extension.
  static std::string fileOfRank(std::string path, uint32_t rank);
  /// Writes the file of a rank.
  dpc_status_t write(const std::string &path, const dpc_program_t &program, uint32_t rank) const;

private:
  std::vector<TraceEvent> events;
  uint64_t dropped = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRACE_TRACE_H

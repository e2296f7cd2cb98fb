#ifndef DPC_RUNTIME_SRC_TRACE_TRACE_H
#define DPC_RUNTIME_SRC_TRACE_TRACE_H

#include "dpc/program.h"
#include "dpc/status.h"

#include <string>
#include <vector>

namespace dpc {

/// Duration of one action. Communication is recorded when it is waited for:
/// `beginNs` is the time of its start action, `exposedNs` the time that the
/// rank spent waiting.
struct TraceEvent {
  const dpc_action_t *action;
  uint64_t step;
  int64_t beginNs;
  int64_t endNs;
  int64_t exposedNs;
  uint32_t micro;
};

/// Events of one rank. They are kept in memory that is allocated at the start,
/// and written at the end as Chrome JSON, which Perfetto opens. When the memory
/// is full, further events are dropped and only counted.
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
  /// The trace file of a rank: `path` for rank 0; for other ranks `path` with
  /// ".rank<N>" before the extension.
  static std::string fileOfRank(std::string path, uint32_t rank);
  /// Writes the events to the trace file of `rank`.
  dpc_status_t write(const std::string &path, const dpc_program_t &program, uint32_t rank) const;

private:
  std::vector<TraceEvent> events;
  uint64_t dropped = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRACE_TRACE_H

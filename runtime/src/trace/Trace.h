#ifndef DPC_RUNTIME_SRC_TRACE_TRACE_H
#define DPC_RUNTIME_SRC_TRACE_TRACE_H

#include "dpc/program.h"
#include "dpc/status.h"

#include <string>
#include <vector>

namespace dpc {

/// The time that one action took. A communication is recorded at its WAIT action:
/// `beginNs` is the time of its START action, `endNs` the end of the wait, and
/// `exposedNs` the time that the rank spent in the wait.
struct TraceEvent {
  const dpc_action_t *action;
  uint64_t step;
  int64_t beginNs;
  int64_t endNs;
  int64_t exposedNs;
  uint32_t micro;
};

/// The events of one rank. They are kept in memory, which is allocated at the start.
/// At the end they are written as Chrome JSON, which Perfetto can open. When the
/// memory is full, further events are counted but not kept.
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
  /// The path of a rank's trace file. For rank 0 it is `path`. For another rank it is
  /// `path` with ".rank<N>" before the extension, e.g. "trace.rank1.json".
  static std::string fileOfRank(std::string path, uint32_t rank);
  /// Writes the events to the trace file of `rank`.
  dpc_status_t write(const std::string &path, const dpc_program_t &program, uint32_t rank) const;

private:
  std::vector<TraceEvent> events;
  uint64_t dropped = 0;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRACE_TRACE_H

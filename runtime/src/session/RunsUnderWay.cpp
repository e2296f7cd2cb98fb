// Keeps the runs that the host has enqueued before it waits for them, with copies of their metrics.

#include "runtime/src/session/RunsUnderWay.h"

#include "dpc/data.h"

namespace dpc {

bool holdsMetric(const dpc_metric_t &metric, uint32_t entry, uint32_t rank) {
  const uint32_t holder = metric.holders[entry];
  return (metric.entry >> entry & 1) && (holder == DPC_NONE || holder == rank);
}

dpc_status_t RunsUnderWay::open() {
  runs.resize(getDepth());
  fetches.reserve(program.metric_count);
  return queue.allocateHost(uint64_t(getDepth()) * program.metric_count * kBytes, &copies);
}

uint32_t RunsUnderWay::stepCount() const {
  uint32_t steps = 0;
  for (uint64_t run = completed; run < submitted; ++run)
    steps += runs[run % runs.size()].entry == DPC_ENTRY_STEP;
  return steps;
}

dpc_status_t RunsUnderWay::submit(uint32_t entry, const Controls &controls) {
  fetches.clear();
  for (uint32_t i = 0; i < program.metric_count; ++i) {
    const dpc_metric_t &metric = program.metrics[i];
    const dpc_place_t &place = metric.places[rank];
    if (holdsMetric(metric, entry, rank))
      fetches.push_back(
          {copyOf(submitted, i), {place.space, place.offset}, dpc_dtype_size(metric.dtype)});
  }
  if (dpc_status_t status =
          executor.submit(entry, controls, fetches, &runs[submitted % runs.size()]))
    return status;
  ++submitted;
  return DPC_OK;
}

dpc_status_t RunsUnderWay::complete(Executor::Run *out) {
  *out = runs[completed++ % runs.size()];
  return executor.complete(*out);
}

dpc_status_t RunsUnderWay::readMetric(uint32_t metric, double *out) const {
  return dpc_convert(DPC_F64, out, program.metrics[metric].dtype, copyOf(completed - 1, metric), 1);
}

} // namespace dpc

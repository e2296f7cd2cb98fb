#ifndef DPC_RUNTIME_SRC_CORE_LEARNINGRATE_H
#define DPC_RUNTIME_SRC_CORE_LEARNINGRATE_H

#include "dpc/records.h"

#include <cmath>

namespace dpc {

/// False when the schedule falls until the end of the training and neither it
/// nor `total` (steps of the whole training; 0: not known) says where that is.
inline bool hasScheduleEnd(const dpc_schedule_t &schedule, uint64_t total) {
  return schedule.kind == DPC_LR_CONSTANT || schedule.total || total;
}

/// The schedule with another base rate: what the rate falls to scales with it,
/// as the rates of parameter groups do, which are multiples of it.
inline dpc_schedule_t withBaseRate(dpc_schedule_t schedule, double rate) {
  if (schedule.learning_rate != 0)
    schedule.min_learning_rate *= rate / schedule.learning_rate;
  schedule.learning_rate = rate;
  return schedule;
}

/// Learning rate of the step with `done` steps before it; see dpc_schedule_t.
/// Of produced programs and of the interpreter.
inline double learningRate(const dpc_schedule_t &schedule, uint64_t total,
                           uint64_t done) {
  const double base = schedule.learning_rate, low = schedule.min_learning_rate;
  if (done < schedule.warmup)
    return base * double(done) / double(schedule.warmup);
  if (schedule.kind == DPC_LR_CONSTANT)
    return base;
  total = schedule.total ? schedule.total : total;
  if (done >= total || total <= schedule.warmup)
    return low;
  const double progress =
      double(done - schedule.warmup) / double(total - schedule.warmup);
  return low + (base - low) * (schedule.kind == DPC_LR_COSINE
                                   ? 0.5 * (1 + std::cos(M_PI * progress))
                                   : 1 - progress);
}

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CORE_LEARNINGRATE_H

#ifndef DPC_SCHEDULE_H
#define DPC_SCHEDULE_H

/** Learning rates of a schedule: for produced programs, for the interpreter, and
 * for programs that embed a compiled model and show its rate. */

#include "dpc/records.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/** 0 if the schedule depends on the end of the training, but neither the
 * schedule nor `total` says where that is. `total` is the number of steps of
 * the entire training, 0 if not known. */
static inline int dpc_schedule_has_end(const dpc_schedule_t *schedule, uint64_t total) {
  return (schedule->kind == DPC_LR_CONSTANT && !schedule->warmup_ppm) || schedule->total || total;
}

/** Steps of the warm-up. A warm-up given as a share of the total is rounded up. */
static inline uint64_t dpc_warmup_steps(const dpc_schedule_t *schedule, uint64_t total) {
  const uint64_t million = 1000000, ppm = schedule->warmup_ppm;
  if (!ppm)
    return schedule->warmup;
  total = schedule->total ? schedule->total : total;
  return total / million * ppm + (total % million * ppm + million - 1) / million;
}

/** The schedule with another base rate. The final rate scales with it, as do the
 * rates of parameter groups, which are multiples of the base rate. */
static inline dpc_schedule_t dpc_schedule_with_rate(const dpc_schedule_t *schedule, double rate) {
  dpc_schedule_t scaled = *schedule;
  if (scaled.learning_rate != 0)
    scaled.min_learning_rate *= rate / scaled.learning_rate;
  scaled.learning_rate = rate;
  return scaled;
}

/** Learning rate of a step that has `done` steps before it; dpc_schedule_t has
 * the formula. */
static inline double dpc_learning_rate(const dpc_schedule_t *schedule, uint64_t total,
                                       uint64_t done) {
  const double pi = 3.14159265358979323846;
  const double base = schedule->learning_rate, low = schedule->min_learning_rate;
  const uint64_t warmup = dpc_warmup_steps(schedule, total);
  double progress;
  if (done < warmup)
    return base * (double)done / (double)warmup;
  if (schedule->kind == DPC_LR_CONSTANT)
    return base;
  total = schedule->total ? schedule->total : total;
  if (done >= total || total <= warmup)
    return low;
  progress = (double)(done - warmup) / (double)(total - warmup);
  return low + (base - low) * (schedule->kind == DPC_LR_COSINE ? 0.5 * (1 + cos(pi * progress))
                                                               : 1 - progress);
}

#ifdef __cplusplus
}
#endif

#endif /* DPC_SCHEDULE_H */

#ifndef DPC_SCHEDULE_H
#define DPC_SCHEDULE_H

/** Computes the learning rates of a schedule. The runtime uses these functions,
 * and so can programs that embed a compiled model. The interpreter has its own
 * implementation, so that tests can compare the two. */

#include "dpc/records.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whether the last step of the schedule is known, or does not matter. `total` is
 * the number of steps of the entire training, or 0 if it is not known. Returns 0
 * if the rates depend on the last step and both `total` and the schedule's own
 * total are 0. */
static inline int dpc_schedule_has_end(const dpc_schedule_t *schedule, uint64_t total) {
  return (schedule->kind == DPC_LR_CONSTANT && !schedule->warmup_ppm) || schedule->total || total;
}

/** Number of warm-up steps. A warm-up that is a share of the total (warmup_ppm)
 * is rounded up. */
static inline uint64_t dpc_warmup_steps(const dpc_schedule_t *schedule, uint64_t total) {
  const uint64_t million = 1000000, ppm = schedule->warmup_ppm;
  if (!ppm)
    return schedule->warmup;
  total = schedule->total ? schedule->total : total;
  return total / million * ppm + (total % million * ppm + million - 1) / million;
}

/** Returns the schedule with another base rate. Scales the final rate by the same
 * factor. The rates of parameter groups scale too, because they are multiples of
 * the base rate. */
static inline dpc_schedule_t dpc_schedule_with_rate(const dpc_schedule_t *schedule, double rate) {
  dpc_schedule_t scaled = *schedule;
  if (scaled.learning_rate != 0)
    scaled.min_learning_rate *= rate / scaled.learning_rate;
  scaled.learning_rate = rate;
  return scaled;
}

/** Learning rate of the step after the first `done` steps, by the formula of
 * dpc_schedule_t. `total` is the number of steps of the entire training. */
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

#include "runtime/src/base/Clock.h"

#include <ctime>

namespace dpc {

static double secondsOf(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

double monotonicSeconds() { return secondsOf(CLOCK_MONOTONIC); }

double wallSeconds() { return secondsOf(CLOCK_REALTIME); }

} // namespace dpc

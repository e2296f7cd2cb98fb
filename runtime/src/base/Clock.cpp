#include "runtime/src/base/Clock.h"

#include <ctime>

namespace dpc {

static double secondsOf(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

int64_t monotonicNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

double monotonicSeconds() { return secondsOf(CLOCK_MONOTONIC); }

double wallSeconds() { return secondsOf(CLOCK_REALTIME); }

} // namespace dpc

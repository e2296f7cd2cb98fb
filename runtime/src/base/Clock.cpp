#include "runtime/src/base/Clock.h"

#include <ctime>

namespace dpc {

static double secondsOf(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

static int64_t nanosecondsOf(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

int64_t monotonicNs() { return nanosecondsOf(CLOCK_MONOTONIC); }

int64_t recentNs() { return nanosecondsOf(CLOCK_MONOTONIC_COARSE); }

double monotonicSeconds() { return secondsOf(CLOCK_MONOTONIC); }

double wallSeconds() { return secondsOf(CLOCK_REALTIME); }

} // namespace dpc

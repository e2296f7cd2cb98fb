#include "runtime/src/base/Clock.h"

#include <ctime>

namespace dpc {

double monotonicSeconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

} // namespace dpc

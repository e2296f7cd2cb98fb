#ifndef DPC_RUNTIME_SRC_BASE_CLOCK_H
#define DPC_RUNTIME_SRC_BASE_CLOCK_H

#include <cstdint>

namespace dpc {

/// Nanoseconds of the monotonic clock.
int64_t monotonicNs();

/// Like monotonicNs, but up to 10 ms in the past, and faster: the time of the kernel's last tick.
int64_t recentNs();

/// Seconds of the monotonic clock.
double monotonicSeconds();

/// Seconds since 1970 of the wall clock.
double wallSeconds();

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_CLOCK_H

// Computes the prices of computation and of messages.

#include "planning/Prices.h"

namespace dpc {

/// A copy that reorders data is priced as this share of a pass over memory. The share is small
/// because the op that makes or reads the data usually reorders it at the same time.
static constexpr double kReorderShare = 0.1;

double computeSeconds(const Device &device, double flops, double bytes) {
  return flops / device.flopsPerSecond + bytes / device.memoryBytesPerSecond;
}

double reorderSeconds(const Device &device, double bytes) {
  return computeSeconds(device, /*flops=*/0, kReorderShare * bytes);
}

Price priceCollective(CollectiveKind kind, double bytes, int64_t members, const Link &link) {
  const double passes = kind == CollectiveKind::allReduce ? 2 : 1;
  const double sent = passes * bytes * (members - 1) / members;
  return {link.latencySeconds + sent / link.bytesPerSecond, sent};
}

Price priceMessage(double bytes, const Link &link) {
  return {link.latencySeconds + bytes / link.bytesPerSecond, bytes};
}

} // namespace dpc

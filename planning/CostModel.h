//===- CostModel.h - how long things take
//----------------------------------===//
//
// One core and one link, in round numbers: decisions compare times, nobody
// reads them off a clock.
//
//===----------------------------------------------------------------------===//

#ifndef DPC_PLANNING_COSTMODEL_H
#define DPC_PLANNING_COSTMODEL_H

namespace dpc {

/// What every decision about time is taken with.
struct CostModel {
  double flopsPerSecond = 5e10;
  double memoryBytesPerSecond = 1e10;
  /// Of one device's link.
  double linkBytesPerSecond = 5e9;
  double linkLatencySeconds = 5e-6;

  /// Of an op that computes `flops` and reads and writes `bytes`.
  double computeSeconds(double flops, double bytes) const {
    return flops / flopsPerSecond + bytes / memoryBytesPerSecond;
  }
  /// Of moving `bytes` through a device's link.
  double transferSeconds(double bytes) const {
    return linkLatencySeconds + bytes / linkBytesPerSecond;
  }
};

} // namespace dpc

#endif // DPC_PLANNING_COSTMODEL_H

#ifndef DPC_RUNTIME_SRC_DESCRIBE_COLLECTIVERATES_H
#define DPC_RUNTIME_SRC_DESCRIBE_COLLECTIVERATES_H

#include "runtime/src/describe/MeasuringRank.h"

namespace dpc {

/// The connections of one level.
struct WayRates {
  /// What one rank sends while it receives as much, and what all ranks of a host send together;
  /// 0 if each of them reaches `bytesPerSecond` at the same time.
  double bytesPerSecond = 0, unitBytesPerSecond = 0;
  /// The time to start an operation that uses the level, in addition to that of the operation.
  double startSeconds = 0;
};

/// The times of operations between ranks.
struct CollectiveRates {
  /// The time to start each of TimedOperation.
  double startSeconds[kTimedOperations] = {};
  WayRates inside;     ///< between the ranks of a host
  WayRates between;    ///< between hosts
  double slowdown = 1; ///< of computation during communication
};

/// Starts `options.ranks` processes on this host, which time small and large operations with those
/// of the other hosts, and fits the rates to the least times.
/// Fails with a message if a process fails.
dpc_status_t measureCollectives(const DescribeOptions &options, CollectiveRates *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DESCRIBE_COLLECTIVERATES_H

#ifndef DPC_RUNTIME_SRC_DESCRIBE_COLLECTIVERATES_H
#define DPC_RUNTIME_SRC_DESCRIBE_COLLECTIVERATES_H

#include "runtime/src/describe/Describe.h"

namespace dpc {

/// The times of operations between the ranks of a host.
struct CollectiveRates {
  static constexpr int kKinds = 4;
  /// Of an all-reduce, an all-gather, a reduce-scatter and an all-to-all: the time to start one.
  double startSeconds[kKinds] = {};
  /// The time to start a message.
  double messageSeconds = 0;
  /// What one rank sends while the others send as much.
  double bytesPerSecond = 0;
};

/// Starts `ranks` processes that time operations of 4 KiB and of 8 MiB, and fits the rates to the
/// least times. Fails with a message if a process fails.
dpc_status_t measureCollectives(const DescribeOptions &options, uint32_t ranks,
                                CollectiveRates *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DESCRIBE_COLLECTIVERATES_H

#ifndef DPC_RUNTIME_SRC_DESCRIBE_DESCRIBE_H
#define DPC_RUNTIME_SRC_DESCRIBE_DESCRIBE_H

#include "dpc/status.h"

#include <cstdint>
#include <string>

namespace dpc {

struct DescribeOptions {
  std::string file;      ///< the topology file to write
  uint32_t ranks = 0;    ///< that run at the same time; 0: one per core that this process may use
  std::string transport; ///< empty: shared memory
  double bandwidth = 0, latency = 0; ///< of its emulated links; 0: none
};

/// Measures this host with `ranks` ranks, and writes a topology file (docs/topology.md): the rates
/// of a core, which the tool dpc-device measures with generated kernels, and the times of
/// collectives between the ranks, over the transport. Takes some seconds. Fails with a message if a
/// rank, the tool or the file fails; the file then is as it was.
dpc_status_t describe(const DescribeOptions &options);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DESCRIBE_DESCRIBE_H

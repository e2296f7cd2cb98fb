#ifndef DPC_RUNTIME_SRC_DESCRIBE_DESCRIBE_H
#define DPC_RUNTIME_SRC_DESCRIBE_DESCRIBE_H

#include "dpc/status.h"

#include <cstdint>
#include <string>

namespace dpc {

struct DescribeOptions {
  std::string file;       ///< the topology file to write
  bool isDefault = false; ///< whether `file` is hostFile() (base/HostFile.h): its folder is made,
                          ///< and its path is printed
  uint32_t ranks = 0;     ///< of each host, which run at the same time; 0: one per core that this
                          ///< process may use
  std::string transport;  ///< empty: shared memory on a host, and the default between hosts
  double bandwidth = 0, latency = 0; ///< of its emulated links; 0: none

  uint32_t hosts = 1, host = 0; ///< number of hosts, and which one this is
  /// With several hosts: where their ranks meet, the secret, the socket at which rank 0 listens
  /// (host 0; else -1), and the address at which the ranks of this host listen ("": that with which
  /// they reach rank 0).
  std::string rendezvous, token, listen;
  int listenFd = -1;
};

/// The number of cores that this process may use.
uint32_t countCores();

/// Measures `hosts` hosts with `ranks` ranks each, and writes a topology file (docs/topology.md):
/// the rates of a core of host 0, which the tool dpc-device measures with generated kernels; the
/// time that the runtime takes between two actions; and the times of collectives between the ranks
/// of a host and between hosts, over the transport. Every host must call it, and host 0 writes the
/// file. Takes less than a minute. Fails with a message if a rank, the tool or the file fails; the
/// file then is as it was.
dpc_status_t describe(const DescribeOptions &options);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DESCRIBE_DESCRIBE_H

#ifndef DPC_RUNTIME_SRC_COMM_HOSTS_H
#define DPC_RUNTIME_SRC_COMM_HOSTS_H

#include "runtime/src/comm/Lobby.h"

namespace dpc {

/// For each rank, the lowest rank whose memory it can open. Equal on all ranks. Two ranks
/// can open each other's memory if they are processes of one user on one host, and see
/// each other's process numbers. A rank that can open no other rank's memory has its own number.
using Hosts = std::vector<uint32_t>;

/// Finds the hosts of the ranks. Each rank makes a small file in memory, and tries to open
/// the files of the others. So names of hosts do not matter, which may be equal on two
/// hosts, or differ in two containers of one host. Every rank must call it.
dpc_status_t findHosts(Lobby &lobby, Hosts *out);

/// Every rank on a host of its own: no rank may use memory of another one.
Hosts separateHosts(uint32_t worldSize);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_COMM_HOSTS_H

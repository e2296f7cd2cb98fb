#ifndef DPC_RUNTIME_SRC_BASE_COMMCHOICE_H
#define DPC_RUNTIME_SRC_BASE_COMMCHOICE_H

#include "dpc/status.h"

#include <string>

namespace dpc {

/// The value of --comm that asks for NCCL, which is no transport of hosts.
inline constexpr char kNcclTransport[] = "nccl";

/// Parses the value of --comm: NAME[,bandwidth=..][,latency=..]. NAME is a transport or "nccl". The
/// bandwidth is in bytes per second, the latency in seconds; settings that are left out keep their
/// values. DPC_USAGE, with a message that names the option, if the value is wrong.
dpc_status_t parseCommChoice(const std::string &value, std::string *outTransport,
                             double *outBandwidth, double *outLatency);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_COMMCHOICE_H

#ifndef DPC_RUNTIME_SRC_SESSION_HOSTPHRASE_H
#define DPC_RUNTIME_SRC_SESSION_HOSTPHRASE_H

#include "dpc/comm.h"

#include <string>

namespace dpc {

/// The ranks that are on one host with `rank`, for messages: "rank 4", "ranks 0-2, 5".
std::string ranksBeside(const dpc_comm_t &comm, uint32_t rank);

/// The host `name` of `rank`, for messages: "host b (ranks 2-3)".
std::string hostPhrase(const dpc_comm_t &comm, uint32_t rank, const std::string &name);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_HOSTPHRASE_H

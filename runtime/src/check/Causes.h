// Compares what the ranks have found, and says for each rank why it could not take part in a run.
#ifndef DPC_RUNTIME_SRC_CHECK_CAUSES_H
#define DPC_RUNTIME_SRC_CHECK_CAUSES_H

#include "runtime/src/check/Findings.h"

#include <string>
#include <vector>

namespace dpc {

/// What is known about all ranks. Each vector is indexed by rank, or empty if the check ended
/// before the ranks told it.
struct Gathered {
  std::vector<Arrival> arrivals;
  std::vector<Findings> findings;
  std::vector<uint32_t> hosts;   ///< as in dpc_comm_t
  double seconds = 0;            ///< how long ranks waited for each other
  bool hasDevicePerRank = false; ///< two ranks may not have the same device
  std::string transport;         ///< that connects the ranks; "": they are not connected
};

/// By rank: why it could not take part in a run, or "". If ranks differ, those with the most
/// frequent value are right, or else the lowest rank. The causes are equal on all ranks.
std::vector<std::string> findCauses(const Gathered &all);

/// Whether two ranks are on one host.
bool areOnOneHost(const Gathered &all, uint32_t a, uint32_t b);

/// A rank in messages: "rank 2 (host-B)". The name is left out if the rank did not come.
std::string rankText(const Gathered &all, uint32_t rank);

/// One line for each cause and host: "ranks 2, 3 (host-B): ..".
std::string causeLines(const Gathered &all, const std::vector<std::string> &causes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECK_CAUSES_H

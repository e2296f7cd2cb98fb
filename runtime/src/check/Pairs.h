#ifndef DPC_RUNTIME_SRC_CHECK_PAIRS_H
#define DPC_RUNTIME_SRC_CHECK_PAIRS_H

#include "dpc/comm.h"

#include <utility>
#include <vector>

namespace dpc {

struct PairSpeed {
  float seconds;        ///< that a message of a few bytes takes in one direction
  float bytesPerSecond; ///< of large messages in one direction
};

/// Bytes that measurePairs allocates from each rank's communicator.
uint64_t pairMemory();

/// The order in which pairs of ranks are measured: rounds of pairs that have no rank in common.
/// Every pair comes once, the lower rank first. Of up to 8 ranks, each round has one pair, so that
/// pairs do not disturb each other. Of more ranks, a round has as many pairs as possible.
std::vector<std::vector<std::pair<uint32_t, uint32_t>>> planPairs(uint32_t ranks);

/// Collective. Measures how fast each two ranks send to each other, in about two seconds for all
/// pairs together. On rank 0, `out` gets the speed of the pair (a, b), a < b, at a * ranks + b.
dpc_status_t measurePairs(dpc_comm_t &comm, std::vector<PairSpeed> *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECK_PAIRS_H

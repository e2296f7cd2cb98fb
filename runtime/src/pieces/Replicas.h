#ifndef DPC_RUNTIME_SRC_PIECES_REPLICAS_H
#define DPC_RUNTIME_SRC_PIECES_REPLICAS_H

#include "dpc/program.h"
#include "runtime/src/pieces/Segments.h"

#include <vector>

namespace dpc {

/// A set of elements of a state, and all ranks that own them.
struct Replicas {
  std::vector<Segments> segments;
  std::vector<uint32_t> ranks; ///< ascending
};

/// Divides the elements of a state into sets, so that each element is in exactly one of them, and
/// all elements of a set have the same owners. Every rank computes the same sets. An element that
/// no rank owns is in no set.
std::vector<Replicas> findReplicas(const dpc_state_t &state, uint32_t worldSize);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_REPLICAS_H

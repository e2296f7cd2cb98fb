// What work and messages cost on a machine, from plain numbers.
//
// Every decision that weighs times asks here: layouts, recomputation, divided updates and
// the order of a step. passes/Prices reads the numbers off ops.

#ifndef DPC_PLANNING_PRICES_H
#define DPC_PLANNING_PRICES_H

#include "planning/Machine.h"

#include <cstdint>

namespace dpc {

/// Seconds in which a device computes `flops` floating-point operations and reads and writes
/// `bytes` of its memory.
double computeSeconds(const Device &device, double flops, double bytes);

/// Seconds in which a device puts `bytes` into another order while it copies them.
double reorderSeconds(const Device &device, double bytes);

/// How the members of a group exchange data.
enum class CollectiveKind { allReduce, allGather, reduceScatter, allToAll };

/// What a collective costs each member.
struct Price {
  double seconds = 0;
  /// Bytes that the member sends.
  double bytes = 0;
};

/// The price of a collective among `members` devices, each of which sends through `link`.
/// `bytes` are those of the larger of a member's two buffers: of an all-gather the result, of a
/// reduce-scatter the operand.
///
/// An all-reduce is a reduce-scatter and an all-gather, each of members - 1 steps that send a
/// member's part (Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication
/// Operations in MPICH", 2005).
Price priceCollective(CollectiveKind kind, double bytes, int64_t members, const Link &link);

} // namespace dpc

#endif // DPC_PLANNING_PRICES_H

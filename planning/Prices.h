// The prices of work and messages on a machine, computed from plain numbers.
//
// All decisions that compare times use these prices: layouts, recomputation, divided updates
// and the order of a step. passes/Prices computes the numbers for ops.

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

/// The price of a collective for each member.
struct Price {
  double seconds = 0;
  /// Bytes that the member sends.
  double bytes = 0;
};

/// The price of a collective among `members` devices, each of which sends through `link`.
/// `bytes` is the size of the larger of a member's two buffers: the result of an all-gather, or
/// the operand of a reduce-scatter.
///
/// An all-reduce is a reduce-scatter followed by an all-gather. Each of them takes members - 1
/// steps, and each step sends one member's part (Thakur, Rabenseifner and Gropp, "Optimization
/// of Collective Communication Operations in MPICH", 2005).
Price priceCollective(CollectiveKind kind, double bytes, int64_t members, const Link &link);

} // namespace dpc

#endif // DPC_PLANNING_PRICES_H

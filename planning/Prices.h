// Computes the prices of computation and of messages on a machine. The inputs are plain
// numbers, such as flops and bytes.
//
// All decisions that compare times use these prices: layouts, recomputation, divided updates
// and the order of a step. passes/Prices computes the flops and bytes of ops.

#ifndef DPC_PLANNING_PRICES_H
#define DPC_PLANNING_PRICES_H

#include "planning/Machine.h"
#include "planning/Topology.h"

#include <cstdint>

namespace dpc {

/// Returns the seconds that a device needs to compute `flops` floating-point operations and to
/// read and write `bytes` of its memory.
double computeSeconds(const Device &device, double flops, double bytes);

/// Returns the seconds that a copy of `bytes` bytes in another order, such as a transposition, adds
/// to a step. This is less than a pass over memory, because another op usually does the copy.
double reorderSeconds(const Device &device, double bytes);

/// What a collective costs each member of its group.
struct Price {
  double seconds = 0;
  /// Bytes that the member sends.
  double bytes = 0;
};

/// Returns the price of a collective among `members` devices, each of which sends through
/// `link`. A member has two buffers, the operand and the result. `bytes` is the size of the
/// larger one: the result of an all-gather, or the operand of a reduce-scatter.
///
/// An all-reduce is a reduce-scatter followed by an all-gather. Each of the two takes
/// `members` - 1 steps, and in each step a member sends `bytes` / `members` bytes. Source:
/// Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
/// MPICH", 2005. The latency of the link counts once per collective.
Price priceCollective(CollectiveKind kind, double bytes, int64_t members, const Link &link);

/// Returns the price of a message of `bytes` bytes through `link`, for its sender.
Price priceMessage(double bytes, const Link &link);

} // namespace dpc

#endif // DPC_PLANNING_PRICES_H

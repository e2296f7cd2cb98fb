// Converts enums of the IR to the numbers that a program record has for them (runtime/include/dpc).

#ifndef DPC_RECORD_ABINUMBERS_H
#define DPC_RECORD_ABINUMBERS_H

#include "dialects/Dist/IR/DistEnums.h"
#include "dpc/action.h"
#include "dpc/types.h"

namespace dpc {

/// Returns DPC_SUM, DPC_MAX or DPC_MIN.
constexpr uint32_t abiNumberOf(dist::Reduction reduction) {
  return static_cast<uint32_t>(reduction);
}

/// Returns the number of a collective, e.g. DPC_OP_ALL_REDUCE.
constexpr uint32_t abiNumberOf(dist::Collective collective) {
  return static_cast<uint32_t>(collective);
}

// The casts are correct because each enum has the same numbers as the runtime, which the following
// assertions check. The first one fails if a reduction is added to only one of the two enums.
static_assert(dist::getMaxEnumValForReduction() + 1 == DPC_REDUCTION_COUNT);
static_assert(abiNumberOf(dist::Reduction::sum) == DPC_SUM);
static_assert(abiNumberOf(dist::Reduction::max) == DPC_MAX);
static_assert(abiNumberOf(dist::Reduction::min) == DPC_MIN);

static_assert(dist::getMaxEnumValForCollective() < DPC_OP_COUNT);
static_assert(abiNumberOf(dist::Collective::all_reduce) == DPC_OP_ALL_REDUCE);
static_assert(abiNumberOf(dist::Collective::reduce_scatter) == DPC_OP_REDUCE_SCATTER);
static_assert(abiNumberOf(dist::Collective::all_gather) == DPC_OP_ALL_GATHER);
static_assert(abiNumberOf(dist::Collective::broadcast) == DPC_OP_BROADCAST);
static_assert(abiNumberOf(dist::Collective::all_to_all) == DPC_OP_ALL_TO_ALL);

} // namespace dpc

#endif // DPC_RECORD_ABINUMBERS_H

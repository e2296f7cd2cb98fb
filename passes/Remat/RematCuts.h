#ifndef DPC_PASSES_REMAT_REMATCUTS_H
#define DPC_PASSES_REMAT_REMATCUTS_H

#include "passes/Remat/RematPlan.h"

namespace dpc {

/// Ops with which segments begin, ascending, in several answers: none, and for each of
/// several sizes of a segment those under which what crosses the cuts, and what the last
/// segment makes for the backward pass, take the fewest bytes; of equal ones the fewest.
std::vector<std::vector<int64_t>> findCuts(const RematProblem &problem,
                                           const std::vector<bool> &stays);

} // namespace dpc

#endif // DPC_PASSES_REMAT_REMATCUTS_H

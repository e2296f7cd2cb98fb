#ifndef DPC_PASSES_REMAT_REMATCUTS_H
#define DPC_PASSES_REMAT_REMATCUTS_H

#include "passes/Remat/RematPlan.h"

namespace dpc {

/// Candidates for the cuts of a problem. Each candidate lists the ops with which segments begin, in
/// ascending order. The first candidate has no cuts. Each of the others is the best one for some
/// limit on the size of a segment: the bytes that cross the cuts, plus the bytes that the last
/// segment makes for the backward pass, are the fewest. Of equal ones it has the fewest cuts.
std::vector<std::vector<int64_t>> findCuts(const RematProblem &problem,
                                           const std::vector<bool> &stays);

} // namespace dpc

#endif // DPC_PASSES_REMAT_REMATCUTS_H

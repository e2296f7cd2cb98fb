#ifndef DPC_PASSES_REMAT_REMATCUTS_H
#define DPC_PASSES_REMAT_REMATCUTS_H

#include "passes/Remat/RematPlan.h"

namespace dpc {

/// Returns candidates for the cuts of a problem. A candidate lists the ops with which segments
/// begin, in ascending order. The first candidate has no cuts. Each other candidate is the best one
/// for some limit on the size of a segment. The best candidate has the fewest bytes, namely the
/// bytes that cross the cuts and the bytes that the last segment makes for the backward pass. Of
/// candidates with equal bytes, the best has the fewest cuts.
std::vector<std::vector<int64_t>> findCuts(const RematProblem &problem,
                                           const std::vector<bool> &stays);

} // namespace dpc

#endif // DPC_PASSES_REMAT_REMATCUTS_H

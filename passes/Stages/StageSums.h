// Makes sums whose terms are on several chunks explicit.

#ifndef DPC_PASSES_STAGES_STAGESUMS_H
#define DPC_PASSES_STAGES_STAGESUMS_H

#include "passes/Stages/ChunkSets.h"

namespace dpc {

/// If a loop yields the sum of terms that are on several chunks, makes the loop yield one sum per
/// chunk, and adds them after the loop. Otherwise the terms would move in every iteration. Returns
/// whether it changed the function; `chunks` is then out of date.
bool splitYieldedSums(mlir::func::FuncOp function, const ValueChunks &chunks);

/// Replaces the sums outside of loops whose terms are on several chunks by dist.combine_stages.
/// Returns whether it changed the function. `chunks` then has the new sums, but the chunks of
/// values that are computed from them are out of date.
bool combineSums(mlir::func::FuncOp function, ValueChunks &chunks);

} // namespace dpc

#endif // DPC_PASSES_STAGES_STAGESUMS_H

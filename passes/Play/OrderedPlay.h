// An estimate of a step at level `ordered`, before memory is planned and code is generated.

#ifndef DPC_PASSES_PLAY_ORDEREDPLAY_H
#define DPC_PASSES_PLAY_ORDEREDPLAY_H

#include "planning/FitStep.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// Plays the function `step` of a program at level `ordered` on the machine of the module. If the
/// program overlaps collectives with computation (ProgramPlan::overlap), a rank waits for a
/// collective before the first op that reads its result, and before each loop over microbatches.
/// The play of the finished program (ExecPlay.h) also has copies, buffers that are set to zero, and
/// waits that protect memory. Of a pipeline, each stage is played without the messages between
/// stages. Fails with an error on the module.
mlir::FailureOr<StepEstimate> estimateStep(mlir::ModuleOp root, bool overlaps);

} // namespace dpc

#endif // DPC_PASSES_PLAY_ORDEREDPLAY_H

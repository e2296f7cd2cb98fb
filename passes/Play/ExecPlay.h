// The tables that planning/StepPlay plays, from a program at level `exec`.

#ifndef DPC_PASSES_PLAY_EXECPLAY_H
#define DPC_PASSES_PLAY_EXECPLAY_H

#include "planning/StepPlay.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace dpc {

/// Measured seconds of kernels, by their names in the program.
using KernelSeconds = llvm::StringMap<double>;

/// A generated function that ranks call, for reports.
struct PlayedFunction {
  std::string name; ///< e.g. "step.3"; of a pipeline, with the stage
  /// The time of one call, as a whole and by class of kernel.
  double seconds = 0;
  std::array<double, kKernelClasses> secondsOfClass = {};
  /// The work of one call.
  double flops = 0, bytes = 0;
};

/// A program as the play sees it.
struct ExecPlay {
  PlayProblem problem;
  /// The functions that actions of kind `compute` call, by their number.
  std::vector<PlayedFunction> functions;
  /// The names of problem.families: their axes.
  std::vector<std::string> families;
};

/// Returns the tables of entry `entry` ("step", "eval" or "infer") of the program at level `exec`.
/// A kernel takes its time in `measured`, or that of its work on the machine of the module
/// (planning/Device.h). The machine must have as many devices as the mesh has ranks. Fails with an error on the module if it
/// has no machine; nullopt if the program has no such entry.
mlir::FailureOr<std::optional<ExecPlay>> playOf(mlir::ModuleOp root, llvm::StringRef entry,
                                                const KernelSeconds &measured = {});

} // namespace dpc

#endif // DPC_PASSES_PLAY_EXECPLAY_H

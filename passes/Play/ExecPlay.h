// The tables that planning/StepPlay plays, from a program at level `exec`.

#ifndef DPC_PASSES_PLAY_EXECPLAY_H
#define DPC_PASSES_PLAY_EXECPLAY_H

#include "planning/FactorForm.h"
#include "planning/StepPlay.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace dpc {

/// Measured seconds of kernels, by their names in the program.
using KernelSeconds = llvm::StringMap<double>;

/// The inputs of a play that the module does not have.
struct PlayInputs {
  /// The times of these kernels. All others take the time of their work.
  KernelSeconds measured;
  /// How products of f32 multiply their factors (KernelChoices::factors). The module has no plan
  /// any more.
  FactorForm factors = FactorForm::whole;
};

/// A kernel, or a copy, in a generated function.
struct PlayedKernel {
  std::string nodes; ///< of the ONNX file (NodeNames)
  KernelClass kind = KernelClass::copy;
  double seconds = 0;
  double flops = 0, bytes = 0;
};

/// A generated function that ranks call, for reports.
struct PlayedFunction {
  std::string name;  ///< e.g. "step.3", as in traces of runs
  std::string nodes; ///< of the ONNX file (NodeNames)
  /// The time of one call, as a whole and by class of kernel.
  double seconds = 0;
  std::array<double, kKernelClasses> secondsOfClass = {};
  /// The work of one call.
  double flops = 0, bytes = 0;
  /// Its launches and copies in their order.
  std::vector<PlayedKernel> kernels;
};

/// A collective or a message that ranks start, for reports.
struct PlayedCall {
  std::string name; ///< e.g. "all-reduce", as in traces of runs
  std::string nodes;
  int64_t elements = 0; ///< of one rank's part
  std::string type;     ///< of the elements, e.g. "f32"
  int64_t id = 0;       ///< of the logical buffer
  double sentBytes = 0; ///< by one rank
};

/// A program as the play sees it.
struct ExecPlay {
  PlayProblem problem;
  /// The functions that actions of kind `compute` call, by their number. Buffers that are set to
  /// zero have the number -1.
  std::vector<PlayedFunction> functions;
  /// The operations that actions of kind `start` start, by their number.
  std::vector<PlayedCall> calls;
  /// The names of problem.families: their axes.
  std::vector<std::string> families;
};

/// Returns the tables of entry `entry` ("step", "eval" or "infer") of the program at level `exec`.
/// A kernel takes its time in `inputs`, or that of its work on the machine of the module
/// (planning/Device.h). Fails with an error on the module if it has no machine, or one with fewer
/// devices than the mesh has ranks; nullopt if the program has no such entry.
mlir::FailureOr<std::optional<ExecPlay>> playOf(mlir::ModuleOp root, llvm::StringRef entry,
                                                const PlayInputs &inputs = {});

/// A step, and how it was played.
struct PlayedStep {
  ExecPlay play;
  StepTimeline timeline;
};

/// Plays the step of a program at level `exec` with `changes`. Fails with an error on the module;
/// nullopt if the program has no step.
mlir::FailureOr<std::optional<PlayedStep>> playStepOf(mlir::ModuleOp root, const PlayInputs &inputs,
                                                      const PlayChanges &changes);

} // namespace dpc

#endif // DPC_PASSES_PLAY_EXECPLAY_H

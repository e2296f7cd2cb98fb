#ifndef DPC_PASSES_EXPLAIN_STEPREPORT_H
#define DPC_PASSES_EXPLAIN_STEPREPORT_H

#include "passes/Explain/Report.h"
#include "passes/Play/ExecPlay.h"

namespace dpc {

/// The numbers of a step that matter most, of the rank that ends last.
struct StepNumbers {
  const PlayedRank *last = nullptr;
  double seconds = 0;
  /// 0 if no input has a batch dimension, and if no inputs are sequences of integers.
  double samplesPerSecond = 0, tokensPerSecond = 0;
  /// The share of the device's rate of f32 that the operations need.
  double shareOfPeak = 0;
  /// Of kernels by KernelClass, as planned: without the slow-down by communication.
  std::array<double, kKernelClasses> secondsOfClass = {};

  StepNumbers(mlir::ModuleOp module, const PlayedStep &step);
  /// The time of waits for operations under way, other ranks and other stages.
  double waitedSeconds() const;
};

/// Adds a section about `step` of `module`: its time, the share of the device's peak, computation
/// by class of kernel, and waits by cause, of the rank that ends last. `isMeasured` says that the
/// times of kernels are measured.
void addStep(ExplainReport &report, mlir::ModuleOp module, const PlayedStep &step, bool isMeasured);

/// Writes the play as a trace in the Chrome trace event format, as runs write theirs
/// (runtime/src/trace): one process per timeline, with the number of its first rank.
void writeStepTrace(const PlayedStep &step, llvm::raw_ostream &os);

/// Writes the sections of `report`, and the play if there is one, as one JSON object.
void writeReportJson(const ExplainReport &report, const std::optional<PlayedStep> &step,
                     llvm::raw_ostream &os);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_STEPREPORT_H

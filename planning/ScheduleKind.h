#ifndef DPC_PLANNING_SCHEDULEKIND_H
#define DPC_PLANNING_SCHEDULEKIND_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace dpc {

/// The orders of a pipeline's work that a user can choose (--schedule).
enum class ScheduleKind : int64_t {
  /// All forward passes, then all backward passes (Huang et al., "GPipe", 2019).
  gpipe,
  /// Each stage alternates between a forward and a backward pass, and holds as few microbatches as
  /// that allows (Narayanan et al., "Memory-Efficient Pipeline-Parallel DNN Training", 2021).
  oneForwardOneBackward,
  /// The same with several chunks per stage, stage s having the chunks s, s + P, .. (Narayanan et
  /// al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", 2021).
  interleaved,
  /// Gradients of weights fill the time in which a stage would wait (Qi et al., "Zero Bubble
  /// Pipeline Parallelism", 2024).
  zeroBubble,
};

/// The name of a schedule on the command line, e.g. "1f1b".
llvm::StringRef nameOf(ScheduleKind kind);
/// The schedule with this name; nullopt if there is none.
std::optional<ScheduleKind> parseSchedule(llvm::StringRef name);

} // namespace dpc

#endif // DPC_PLANNING_SCHEDULEKIND_H

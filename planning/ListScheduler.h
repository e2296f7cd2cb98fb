// Schedules the pieces of a pipeline by simulation: whenever a stage is free, it starts the piece
// that its preferences choose among those that are ready.

#ifndef DPC_PLANNING_LISTSCHEDULER_H
#define DPC_PLANNING_LISTSCHEDULER_H

#include "planning/PipelineSchedule.h"

namespace dpc {

/// What a stage prefers if several pieces are ready.
struct SchedulePreferences {
  /// By stage: the number of forward pieces whose memory no later piece has freed. A stage starts
  /// no forward piece beyond this number if `isStrict`, or as long as no backward piece has run if
  /// `isStrictAtFirst`.
  std::vector<int64_t> inFlight;
  /// By chunk: the same for the forward pieces of the chunk, always strict. Empty for no limits.
  std::vector<int64_t> chunkInFlight;
  bool isStrict = false, isStrictAtFirst = false;
  /// Whether a stage below `inFlight` prefers a forward piece to a backward one.
  bool fillsFirst = false;
  /// Whether a stage runs its chunks in turns: for as many microbatches as there are stages one
  /// chunk after the other, forward pieces from the first chunk to the last one and backward pieces
  /// the other way round. If not, a stage prefers the last chunk of those that are ready.
  bool takesTurns = false;
  /// A piece `weight` may delay the next forward or backward piece by this share of its duration.
  double delay = 0;
};

/// Returns the schedule that `preferences` lead to; nullopt if some stage waits for ever because of
/// its capacity or of the preferences. PipelineProblem::check must have accepted `problem`.
std::optional<PipelineSchedule> scheduleByList(const PipelineProblem &problem,
                                               const SchedulePreferences &preferences);

} // namespace dpc

#endif // DPC_PLANNING_LISTSCHEDULER_H

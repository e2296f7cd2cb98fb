// Chooses the settings of the list scheduler for each kind of schedule.

#include "planning/ListScheduler.h"

#include "planning/PlanError.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace dpc;

using Chunk = PipelineProblem::Chunk;

namespace {

/// Microbatches in flight: `each` per stage that follows, and `more`.
std::vector<int64_t> flightOf(const PipelineProblem &problem, int64_t each, int64_t more) {
  std::vector<int64_t> inFlight;
  for (unsigned stage = 0; stage < problem.stages; ++stage)
    inFlight.push_back(each * (problem.stages - 1 - stage) + more);
  return inFlight;
}

/// By stage: how many forward pieces end before the first backward piece is ready.
std::vector<int64_t> flightBeforeBackward(const PipelineProblem &problem) {
  std::vector<int64_t> inFlight(problem.stages, 1);
  for (auto [chunk, lifetime] : zip_equal(problem.chunks, problem.findLifetimes())) {
    int64_t &most = inFlight[chunk.stage];
    most = std::max(most, lifetime / std::max<int64_t>(chunk.pieces[0].durationNs, 1));
  }
  return inFlight;
}

/// By chunk: the microbatches that it holds if it starts one per time in which its stage runs all
/// its pieces once, and if each microbatch takes `stretch` times as long as it would alone.
/// `rounding` is added before the number is rounded down.
std::vector<int64_t> steadyFlight(const PipelineProblem &problem, double stretch, double rounding) {
  std::vector<double> work(problem.stages);
  for (const Chunk &chunk : problem.chunks)
    for (const PipelineProblem::Piece &piece : chunk.pieces)
      if (piece.exists)
        work[chunk.stage] += double(piece.durationNs);
  std::vector<int64_t> inFlight;
  for (auto [chunk, lifetime] : zip_equal(problem.chunks, problem.findLifetimes())) {
    const double held = rounding + stretch * double(lifetime) / std::max(work[chunk.stage], 1.);
    inFlight.push_back(std::max<int64_t>(1, int64_t(held)));
  }
  return inFlight;
}

/// The settings that zero-bubble schedules with several chunks per stage try. If chunks run through
/// the stages forth and back, a microbatch in the steady state takes as long as it would alone, or
/// a multiple of it if memory allows. These are the schedules V-Min, V-Half and V-ZB of Qi et al.,
/// "Pipeline Parallelism with Controllable Memory", 2024, which has them as repeated patterns.
std::vector<SchedulePreferences> preferencesForChunks(const PipelineProblem &problem) {
  std::vector<SchedulePreferences> all;
  for (double stretch : {0.7, 0.8, 0.9, 1., 1.1, 1.2, 1.35, 1.5, 1.75, 2., 3.})
    for (double rounding : {1., 1.5, 2.})
      for (double delay : {0., 0.5}) {
        SchedulePreferences each;
        each.inFlight.assign(problem.stages, INT64_MAX);
        each.chunkInFlight = steadyFlight(problem, stretch, rounding);
        each.fillsFirst = true;
        each.delay = delay;
        all.push_back(each);
      }
  return all;
}

/// The settings of 1F1B: a chunk has as many microbatches in flight as chunks follow it, and one
/// more.
SchedulePreferences ordinaryPreferences(const PipelineProblem &problem) {
  SchedulePreferences ordinary;
  ordinary.inFlight.assign(problem.stages, INT64_MAX);
  for (size_t chunk = 0; chunk < problem.chunks.size(); ++chunk)
    ordinary.chunkInFlight.push_back(problem.chunks.size() - chunk);
  ordinary.fillsFirst = true;
  return ordinary;
}

/// The settings that schedules of `problem` try.
std::vector<SchedulePreferences> preferencesFor(const PipelineProblem &problem) {
  SchedulePreferences first;
  const int64_t perStage = int64_t(problem.chunks.size()) / problem.stages;
  switch (problem.kind) {
  case ScheduleKind::gpipe:
    first.inFlight.assign(problem.stages, int64_t(problem.microbatches) * perStage);
    first.fillsFirst = true;
    return {first};
  case ScheduleKind::oneForwardOneBackward:
    return {ordinaryPreferences(problem)};
  case ScheduleKind::interleaved:
    first.inFlight = flightOf(problem, 2, 1 + (perStage - 1) * problem.stages);
    first.isStrict = first.fillsFirst = first.takesTurns = true;
    return {first};
  case ScheduleKind::zeroBubble:
    break;
  }
  if (problem.chunks.size() > problem.stages)
    return preferencesForChunks(problem);
  // From the microbatches in flight of 1F1B to those that fill the time before the first backward
  // piece.
  std::vector<SchedulePreferences> all;
  const std::vector<int64_t> least = flightOf(problem, 1, 1), most = flightBeforeBackward(problem);
  for (int64_t eighths : {0, 4, 7, 8, 9})
    for (bool isStrict : {true, false})
      for (bool fillsFirst : {true, false})
        for (double delay : {0., 0.5, 1.}) {
          SchedulePreferences each;
          for (auto [low, high] : zip_equal(least, most))
            each.inFlight.push_back(std::max(low, low + (high - low) * eighths / 8));
          each.isStrict = isStrict;
          each.isStrictAtFirst = !isStrict;
          each.fillsFirst = fillsFirst;
          each.delay = delay;
          all.push_back(each);
        }
  return all;
}

/// One microbatch after the other, or at most `most` of them in flight in each chunk.
SchedulePreferences fewInFlight(const PipelineProblem &problem, int64_t most) {
  SchedulePreferences each;
  each.inFlight.assign(problem.stages, INT64_MAX);
  each.chunkInFlight.assign(problem.chunks.size(), most);
  each.fillsFirst = true;
  return each;
}

/// The settings that a schedule tries if the capacities are too small for its own.
std::vector<SchedulePreferences> preferencesForCapacity(const PipelineProblem &problem) {
  std::vector<SchedulePreferences> all;
  for (int64_t most = 1; most < 2 * int64_t(problem.microbatches); most += (most + 1) / 2)
    all.push_back(fewInFlight(problem, std::min<int64_t>(most, problem.microbatches)));
  return all;
}

bool keepsCapacity(const PipelineProblem &problem, const PipelineSchedule &schedule) {
  for (auto [peak, capacity] : zip_equal(schedule.peakBytes, problem.capacity))
    if (capacity && peak > capacity)
      return false;
  return true;
}

/// Returns the schedule that `preferences` lead to if pieces `backward` and `weight` are one piece,
/// so that each piece `weight` runs directly after the piece `backward`. nullopt as for
/// scheduleByList.
std::optional<PipelineSchedule> withoutDelays(const PipelineProblem &problem,
                                              const SchedulePreferences &preferences) {
  PipelineProblem merged = problem;
  for (Chunk &chunk : merged.chunks)
    if (PipelineProblem::Piece *pieces = chunk.pieces; pieces[1].exists && pieces[2].exists) {
      pieces[1].durationNs += pieces[2].durationNs;
      pieces[1].heldBytes = pieces[2].heldBytes;
      pieces[2].exists = false;
    }
  std::optional<PipelineSchedule> made = scheduleByList(merged, preferences);
  if (!made)
    return std::nullopt;
  for (std::vector<PieceRun> &runs : made->stages) {
    std::vector<PieceRun> all;
    for (const PieceRun &run : runs) {
      all.push_back(run);
      if (run.kind == PieceKind::backward && problem.chunks[run.chunk].pieces[2].exists)
        all.push_back({PieceKind::weight, run.chunk, run.microbatch});
    }
    runs = std::move(all);
  }
  if (Error error = made->measure(problem)) {
    consumeError(std::move(error)); // the order has no cycle, because the merged one has none
    return std::nullopt;
  }
  return made;
}

} // namespace

Expected<PipelineSchedule> dpc::schedulePipeline(const PipelineProblem &problem) {
  if (Error error = problem.check())
    return error;
  std::optional<PipelineSchedule> best;
  auto timeOf = [&](const PipelineSchedule &schedule) {
    return problem.stepsOverlap ? std::pair(schedule.longestSpanNs, schedule.makespanNs)
                                : std::pair(schedule.makespanNs, schedule.longestSpanNs);
  };
  auto offer = [&](std::optional<PipelineSchedule> made) {
    if (made && keepsCapacity(problem, *made) && (!best || timeOf(*made) < timeOf(*best)))
      best = std::move(made);
  };
  if (problem.kind == ScheduleKind::zeroBubble)
    offer(withoutDelays(problem, ordinaryPreferences(problem)));
  for (const SchedulePreferences &preferences : preferencesFor(problem))
    offer(scheduleByList(problem, preferences));
  if (!best)
    for (const SchedulePreferences &preferences : preferencesForCapacity(problem)) {
      offer(scheduleByList(problem, preferences));
      offer(withoutDelays(problem, preferences));
    }
  if (best)
    return *std::move(best);
  for (auto [stage, least] : enumerate(findSmallestPeaks(problem)))
    if (const int64_t capacity = problem.capacity[stage]; capacity && capacity < least)
      return planError("the microbatches of stage {0} may hold {1} bytes, but they need at least "
                       "{2}",
                       stage, capacity, least);
  return planError("no order of schedule {0} satisfies the capacity", nameOf(problem.kind));
}

std::vector<int64_t> dpc::findSmallestPeaks(const PipelineProblem &problem) {
  PipelineProblem free = problem;
  free.capacity.assign(problem.stages, 0);
  // A stage holds as much in every microbatch.
  free.microbatches = 1;
  std::optional<PipelineSchedule> made = withoutDelays(free, fewInFlight(free, 1));
  return made ? made->peakBytes : std::vector<int64_t>(problem.stages);
}

std::vector<int64_t> dpc::estimateInFlight(ScheduleKind kind, int64_t stages,
                                           int64_t chunksPerStage, int64_t microbatches) {
  std::vector<int64_t> inFlight;
  for (int64_t chunk = 0; chunk < stages * chunksPerStage; ++chunk) {
    int64_t most = microbatches;
    // With several chunks per stage, the first stage holds P (1 + (P-1) / (P V)) microbatches.
    if (kind != ScheduleKind::gpipe)
      most = chunksPerStage == 1                 ? stages - chunk
             : kind == ScheduleKind::interleaved ? stages + (stages - 1) / chunksPerStage
                                                 : stages;
    inFlight.push_back(std::min(most, microbatches));
  }
  return inFlight;
}

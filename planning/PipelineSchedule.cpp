// Schedules the pieces of a pipeline with a list scheduler, and checks schedules.

#include "planning/PipelineSchedule.h"

#include "planning/EventSimulator.h"
#include "planning/PlanError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <queue>

using namespace llvm;
using namespace dpc;

using Chunk = PipelineProblem::Chunk;
using Edge = PipelineProblem::Edge;

static unsigned indexOf(PieceKind kind) { return static_cast<unsigned>(kind); }

static std::string describe(unsigned chunk, unsigned kind, unsigned microbatch) {
  return std::to_string(chunk) + "FBW"[kind] + std::to_string(microbatch);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The kind of the piece of `chunk` that runs before its piece `kind`; none for the first piece.
static std::optional<unsigned> pieceBefore(const Chunk &chunk, unsigned kind) {
  while (kind-- > 0)
    if (chunk.pieces[kind].exists)
      return kind;
  return std::nullopt;
}

/// The timeline problem of one order: a task per piece and microbatch, and a stream per stage. The
/// number of a task is (chunk * kPieceKinds + kind) * microbatches + microbatch. Pieces that do not
/// exist are on a last stream, where they take no time.
static SimProblem makeSimProblem(const PipelineProblem &problem,
                                 ArrayRef<std::vector<PieceRun>> stages) {
  const auto taskOf = [&](unsigned chunk, unsigned kind, unsigned microbatch) {
    return (int64_t(chunk) * kPieceKinds + kind) * problem.microbatches + microbatch;
  };
  SimProblem sim;
  sim.tasks.resize(problem.chunks.size() * kPieceKinds * problem.microbatches);
  sim.streams.resize(stages.size() + 1);
  for (auto [index, chunk] : enumerate(problem.chunks))
    for (unsigned kind = 0; kind < kPieceKinds; ++kind)
      for (unsigned m = 0; m < problem.microbatches; ++m) {
        SimTask &task = sim.tasks[taskOf(index, kind, m)];
        if (!chunk.pieces[kind].exists) {
          sim.streams.back().order.push_back(taskOf(index, kind, m));
          continue;
        }
        task.durationNs = chunk.pieces[kind].durationNs;
        if (std::optional<unsigned> before = pieceBefore(chunk, kind))
          task.dependencies.push_back({taskOf(index, *before, m), 0});
      }
  for (const Edge &edge : problem.edges)
    for (unsigned m = 0; m < problem.microbatches; ++m)
      sim.tasks[taskOf(edge.to, indexOf(edge.toKind), m)].dependencies.push_back(
          {taskOf(edge.from, indexOf(edge.fromKind), m), edge.delayNs});
  for (auto [stage, runs] : enumerate(stages))
    for (const PieceRun &run : runs)
      sim.streams[stage].order.push_back(taskOf(run.chunk, indexOf(run.kind), run.microbatch));
  return sim;
}

/// Simulates one microbatch, as if each piece had a stage of its own. Task chunk * kPieceKinds +
/// kind is the piece `kind` of `chunk`. Fails if pieces wait for each other in a cycle.
static Expected<Timeline> simulateOne(PipelineProblem problem) {
  problem.microbatches = 1;
  SimProblem sim = makeSimProblem(problem, {});
  sim.streams.clear();
  for (size_t task = 0; task < sim.tasks.size(); ++task) {
    sim.streams.emplace_back();
    sim.streams.back().order.push_back(task);
  }
  return simulate(sim);
}

Error PipelineProblem::check() const {
  if (stages < 1 || microbatches < 1)
    return planError("{0} stages and {1} microbatches", stages, microbatches);
  if (capacity.size() != stages)
    return planError("{0} stages, but a capacity for {1}", stages, capacity.size());
  for (int64_t bytes : capacity)
    if (bytes < 0)
      return planError("a stage may hold {0} bytes", bytes);
  std::vector<bool> hasChunk(stages);
  for (auto [index, chunk] : enumerate(chunks)) {
    if (chunk.stage >= stages)
      return planError("chunk {0} is on stage {1} of {2}", index, chunk.stage, stages);
    hasChunk[chunk.stage] = true;
    if (!chunk.pieces[0].exists)
      return planError("chunk {0} has no forward piece", index);
    for (const Piece &piece : chunk.pieces)
      if (piece.durationNs < 0 || piece.heldBytes < 0)
        return planError("a piece of chunk {0} takes {1} ns and holds {2} bytes", index,
                         piece.durationNs, piece.heldBytes);
  }
  for (unsigned stage = 0; stage < stages; ++stage)
    if (!hasChunk[stage])
      return planError("stage {0} has no chunk", stage);
  for (const Edge &edge : edges) {
    if (edge.from >= chunks.size() || edge.to >= chunks.size() || edge.delayNs < 0)
      return planError("a message of {0} ns from chunk {1} to chunk {2} of {3}", edge.delayNs,
                       edge.from, edge.to, chunks.size());
    if (edge.fromKind > edge.toKind || !chunks[edge.from].pieces[indexOf(edge.fromKind)].exists ||
        !chunks[edge.to].pieces[indexOf(edge.toKind)].exists)
      return planError("a message from {0} to {1}", describe(edge.from, indexOf(edge.fromKind), 0),
                       describe(edge.to, indexOf(edge.toKind), 0));
  }
  return simulateOne(*this).takeError();
}

/// The bytes that a stage holds after it has run `run`, minus those before it.
static int64_t heldChange(const PipelineProblem &problem, const PieceRun &run) {
  const Chunk &chunk = problem.chunks[run.chunk];
  const std::optional<unsigned> before = pieceBefore(chunk, indexOf(run.kind));
  return chunk.pieces[indexOf(run.kind)].heldBytes - (before ? chunk.pieces[*before].heldBytes : 0);
}

/// The most bytes that the microbatches of a stage hold if it runs `runs` in this order.
static int64_t findPeak(const PipelineProblem &problem, ArrayRef<PieceRun> runs) {
  int64_t held = 0, peak = 0;
  for (const PieceRun &run : runs) {
    held += heldChange(problem, run);
    peak = std::max(peak, held);
  }
  return peak;
}

/// Sets the times and bytes of `schedule` from its order.
static Error measure(const PipelineProblem &problem, PipelineSchedule &schedule) {
  const SimProblem sim = makeSimProblem(problem, schedule.stages);
  Expected<Timeline> timeline = simulate(sim);
  if (!timeline)
    return timeline.takeError();
  schedule.makespanNs = timeline->makespanNs;
  schedule.longestSpanNs = 0;
  for (const SimStream &stream : ArrayRef(sim.streams).drop_back())
    if (!stream.order.empty())
      schedule.longestSpanNs =
          std::max(schedule.longestSpanNs,
                   timeline->endNs[stream.order.back()] - timeline->startNs[stream.order.front()]);
  schedule.peakBytes.clear();
  for (const std::vector<PieceRun> &runs : schedule.stages)
    schedule.peakBytes.push_back(findPeak(problem, runs));
  return Error::success();
}

Error PipelineSchedule::verify(const PipelineProblem &problem) const {
  if (stages.size() != problem.stages)
    return planError("orders the pieces of {0} stages of {1}", stages.size(), problem.stages);
  // By chunk and kind: the microbatch that must run next.
  std::vector<unsigned> next(problem.chunks.size() * kPieceKinds);
  for (auto [stage, runs] : enumerate(stages))
    for (const PieceRun &run : runs) {
      const unsigned kind = indexOf(run.kind);
      if (run.chunk >= problem.chunks.size() || problem.chunks[run.chunk].stage != stage ||
          !problem.chunks[run.chunk].pieces[kind].exists)
        return planError("stage {0} runs {1}, which it does not have", stage,
                         describe(run.chunk, kind, run.microbatch));
      unsigned &expected = next[run.chunk * kPieceKinds + kind];
      if (run.microbatch != expected)
        return planError("stage {0} runs {1} instead of microbatch {2}", stage,
                         describe(run.chunk, kind, run.microbatch), expected);
      ++expected;
    }
  for (auto [index, chunk] : enumerate(problem.chunks))
    for (unsigned kind = 0; kind < kPieceKinds; ++kind)
      if (chunk.pieces[kind].exists && next[index * kPieceKinds + kind] != problem.microbatches)
        return planError("stage {0} runs {1} of {2} microbatches of {3}", chunk.stage,
                         next[index * kPieceKinds + kind], problem.microbatches,
                         StringRef(describe(index, kind, 0)).drop_back());
  PipelineSchedule own;
  own.stages = stages;
  if (Error error = measure(problem, own))
    return error;
  for (unsigned stage = 0; stage < problem.stages; ++stage)
    if (problem.capacity[stage] && own.peakBytes[stage] > problem.capacity[stage])
      return planError("stage {0} holds {1} bytes of {2}", stage, own.peakBytes[stage],
                       problem.capacity[stage]);
  if (own.makespanNs != makespanNs || own.longestSpanNs != longestSpanNs)
    return planError("records {0} ns and {1} ns of the longest stage, but takes {2} and {3}",
                     makespanNs, longestSpanNs, own.makespanNs, own.longestSpanNs);
  if (own.peakBytes != peakBytes)
    return planError("records other bytes than its stages hold");
  return Error::success();
}

std::vector<std::vector<int64_t>> PipelineSchedule::findEnds(const PipelineProblem &problem) const {
  std::vector<std::vector<int64_t>> ends(problem.chunks.size() * kPieceKinds);
  Expected<Timeline> timeline = simulate(makeSimProblem(problem, stages));
  if (!timeline) { // verify() has excluded this
    consumeError(timeline.takeError());
    return ends;
  }
  for (auto [piece, own] : enumerate(ends))
    own.assign(timeline->endNs.begin() + piece * problem.microbatches,
               timeline->endNs.begin() + (piece + 1) * problem.microbatches);
  return ends;
}

double PipelineSchedule::bubble(const PipelineProblem &problem) const {
  std::vector<double> busy(problem.stages);
  for (const Chunk &chunk : problem.chunks)
    for (const PipelineProblem::Piece &piece : chunk.pieces)
      if (piece.exists)
        busy[chunk.stage] += double(piece.durationNs) * problem.microbatches;
  const double total = problem.stepsOverlap ? longestSpanNs : makespanNs;
  return total ? (total - *std::max_element(busy.begin(), busy.end())) / total : 0;
}

std::string PipelineSchedule::toString() const {
  std::string text;
  for (const std::vector<PieceRun> &runs : stages) {
    for (auto [index, run] : enumerate(runs))
      text += (index ? " " : "") + describe(run.chunk, indexOf(run.kind), run.microbatch);
    text += "\n";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// List scheduling
//===----------------------------------------------------------------------===//

namespace {

/// What a stage prefers if several pieces are ready.
struct Preferences {
  /// By stage: the number of forward pieces whose backward piece has not run yet. A stage starts no
  /// forward piece beyond this number if `isStrict`, or as long as no backward piece has run if
  /// `isStrictAtFirst`.
  std::vector<int64_t> inFlight;
  bool isStrict = false, isStrictAtFirst = false;
  /// Whether a stage below `inFlight` prefers a forward piece to a backward one.
  bool fillsFirst = false;
  /// A piece `weight` may delay the next forward or backward piece by this share of its duration.
  double delay = 0;
};

/// Simulates the pipeline: a stage that becomes free starts one of its next pieces.
class ListScheduler {
public:
  ListScheduler(const PipelineProblem &problem, const Preferences &preferences)
      : problem(problem), preferences(preferences), next(problem.chunks.size() * kPieceKinds),
        ends(next.size() * problem.microbatches, kUnknown), edgesTo(next.size()),
        edgesFrom(next.size()), stages(problem.stages) {
    for (const Edge &edge : problem.edges) {
      edgesTo[pieceOf(edge.to, indexOf(edge.toKind))].push_back(&edge);
      edgesFrom[pieceOf(edge.from, indexOf(edge.fromKind))].push_back(&edge);
    }
    for (auto [index, chunk] : enumerate(problem.chunks)) {
      stages[chunk.stage].chunks.push_back(index);
      for (const PipelineProblem::Piece &piece : chunk.pieces)
        left += piece.exists ? problem.microbatches : 0;
    }
    for (Stage &stage : stages)
      orderChunks(stage);
  }

  /// Returns the schedule; nullopt if some stage waits for ever because of its capacity.
  std::optional<PipelineSchedule> run() {
    schedule.stages.resize(problem.stages);
    for (unsigned stage = 0; stage < problem.stages; ++stage)
      events.push({0, stage});
    while (!events.empty()) {
      auto [time, stage] = events.top();
      events.pop();
      if (time >= stages[stage].freeAt)
        decide(stage, time);
    }
    if (left)
      return std::nullopt;
    if (Error error = measure(problem, schedule)) {
      consumeError(std::move(error)); // check() has excluded this
      return std::nullopt;
    }
    return std::move(schedule);
  }

private:
  static constexpr int64_t kUnknown = -1, kNever = INT64_MAX;

  struct Stage {
    std::vector<unsigned> chunks;
    /// The chunks of all forward pieces in their order, and those of all pieces that free what the
    /// forward pieces keep (drainOf). The microbatches of each chunk are in order.
    std::vector<unsigned> orders[2];
    size_t done[2] = {0, 0};
    int64_t freeAt = 0, heldBytes = 0;
  };

  unsigned pieceOf(unsigned chunk, unsigned kind) const { return chunk * kPieceKinds + kind; }

  /// Orders the pieces of a stage with several chunks: groups of as many microbatches as there are
  /// stages run through one chunk after the other.
  void orderChunks(Stage &stage) {
    for (unsigned kind : {0u, 1u})
      for (unsigned first = 0; first < problem.microbatches; first += problem.stages)
        for (size_t i = 0; i < stage.chunks.size(); ++i) {
          const unsigned chunk = stage.chunks[kind == 0 ? i : stage.chunks.size() - 1 - i];
          const unsigned count = std::min(problem.stages, problem.microbatches - first);
          if (kind == 0 || drainOf(chunk))
            stage.orders[kind].insert(stage.orders[kind].end(), count, chunk);
        }
  }

  /// The piece of `chunk` that follows its forward piece: `backward`, or `weight` if there is no
  /// `backward`; 0 if there is neither.
  unsigned drainOf(unsigned chunk) const {
    const PipelineProblem::Piece *pieces = problem.chunks[chunk].pieces;
    return pieces[1].exists ? 1 : pieces[2].exists ? 2 : 0;
  }

  /// When the next microbatch of a piece may start; kNever if this is not known yet, or if there is
  /// none.
  int64_t readyAt(unsigned chunk, unsigned kind) const {
    const unsigned piece = pieceOf(chunk, kind), microbatch = next[piece];
    if (microbatch == problem.microbatches)
      return kNever;
    int64_t ready = 0;
    auto wait = [&](unsigned from, int64_t delay) {
      const int64_t end = ends[size_t(from) * problem.microbatches + microbatch];
      ready = end == kUnknown || ready == kNever ? kNever : std::max(ready, end + delay);
    };
    if (std::optional<unsigned> before = pieceBefore(problem.chunks[chunk], kind))
      wait(pieceOf(chunk, *before), 0);
    for (const Edge *edge : edgesTo[piece])
      wait(pieceOf(edge->from, indexOf(edge->fromKind)), edge->delayNs);
    return ready;
  }

  bool mayStartForward(unsigned number, const Stage &stage, unsigned chunk) const {
    const int64_t limit = preferences.inFlight[number],
                  inFlight = int64_t(stage.done[0]) - int64_t(stage.done[1]);
    if ((preferences.isStrict || (preferences.isStrictAtFirst && stage.done[1] == 0)) &&
        hasBackward(stage) && inFlight >= limit)
      return false;
    return problem.capacity[number] == 0 ||
           stage.heldBytes + heldChange(problem, {PieceKind::forward, chunk, 0}) <=
               problem.capacity[number];
  }

  static bool hasBackward(const Stage &stage) { return !stage.orders[1].empty(); }

  void decide(unsigned number, int64_t now) {
    Stage &stage = stages[number];
    // The next forward and backward piece in the order of the chunks.
    int64_t ready[2] = {kNever, kNever};
    unsigned chunks[2] = {0, 0};
    for (unsigned kind : {0u, 1u})
      if (stage.done[kind] < stage.orders[kind].size()) {
        chunks[kind] = stage.orders[kind][stage.done[kind]];
        ready[kind] = readyAt(chunks[kind], kind == 0 ? 0 : drainOf(chunks[kind]));
      }
    const bool isFull = ready[0] != kNever && !mayStartForward(number, stage, chunks[0]);
    if (isFull)
      ready[0] = kNever;
    const bool mayForward = ready[0] <= now, mayBackward = ready[1] <= now;
    if (mayForward && mayBackward) {
      const bool fills = preferences.fillsFirst && int64_t(stage.done[0]) - int64_t(stage.done[1]) <
                                                       preferences.inFlight[number];
      return fills ? start(number, 0, chunks[0], now)
                   : start(number, drainOf(chunks[1]), chunks[1], now);
    }
    if (mayBackward)
      return start(number, drainOf(chunks[1]), chunks[1], now);
    if (mayForward)
      return start(number, 0, chunks[0], now);
    const int64_t soonest = std::min(ready[0], ready[1]);
    if (std::optional<unsigned> chunk = findWeight(stage, now)) {
      const int64_t duration = problem.chunks[*chunk].pieces[2].durationNs;
      const bool fits = soonest == kNever ||
                        double(now + duration - soonest) <= preferences.delay * double(duration);
      if (fits || isFull)
        return start(number, 2, *chunk, now);
    }
    if (soonest != kNever)
      events.push({soonest, number});
  }

  /// The chunk of `stage` whose next piece `weight` may fill a gap; the last one if there are
  /// several.
  std::optional<unsigned> findWeight(const Stage &stage, int64_t now) const {
    for (unsigned chunk : reverse(stage.chunks))
      if (problem.chunks[chunk].pieces[2].exists && drainOf(chunk) == 1 && readyAt(chunk, 2) <= now)
        return chunk;
    return std::nullopt;
  }

  void start(unsigned number, unsigned kind, unsigned chunk, int64_t now) {
    Stage &stage = stages[number];
    const unsigned piece = pieceOf(chunk, kind), microbatch = next[piece]++;
    const int64_t end = now + problem.chunks[chunk].pieces[kind].durationNs;
    ends[size_t(piece) * problem.microbatches + microbatch] = end;
    schedule.stages[number].push_back({PieceKind(kind), chunk, microbatch});
    stage.heldBytes += heldChange(problem, schedule.stages[number].back());
    stage.freeAt = end;
    if (kind == 0 || kind == drainOf(chunk))
      ++stage.done[kind == 0 ? 0 : 1];
    --left;
    events.push({end, number});
    for (const Edge *edge : edgesFrom[piece]) {
      const unsigned target = problem.chunks[edge->to].stage;
      events.push({std::max(end + edge->delayNs, stages[target].freeAt), target});
    }
  }

  const PipelineProblem &problem;
  const Preferences &preferences;
  /// By piece (pieceOf): the next microbatch.
  std::vector<unsigned> next;
  /// By piece and microbatch: when it ends; kUnknown if it has not started.
  std::vector<int64_t> ends;
  std::vector<std::vector<const Edge *>> edgesTo, edgesFrom;
  std::vector<Stage> stages;
  PipelineSchedule schedule;
  uint64_t left = 0;
  /// Times at which a stage looks for a piece to start. The earliest one is first, and then the
  /// lowest stage.
  std::priority_queue<std::pair<int64_t, unsigned>, std::vector<std::pair<int64_t, unsigned>>,
                      std::greater<std::pair<int64_t, unsigned>>>
      events;
};

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
  Expected<Timeline> timeline = simulateOne(problem);
  if (!timeline) { // check() has excluded this
    consumeError(timeline.takeError());
    return inFlight;
  }
  for (auto [index, chunk] : enumerate(problem.chunks))
    for (unsigned kind : {1u, 2u})
      if (chunk.pieces[kind].exists) {
        const int64_t task = int64_t(index) * kPieceKinds;
        const int64_t between = timeline->startNs[task + kind] - timeline->startNs[task];
        int64_t &most = inFlight[chunk.stage];
        most = std::max(most, between / std::max<int64_t>(chunk.pieces[0].durationNs, 1));
        break;
      }
  return inFlight;
}

/// The settings that schedules of `problem` try.
std::vector<Preferences> preferencesFor(const PipelineProblem &problem) {
  Preferences first;
  const int64_t perStage = int64_t(problem.chunks.size()) / problem.stages;
  switch (problem.kind) {
  case ScheduleKind::gpipe:
    first.inFlight.assign(problem.stages, int64_t(problem.microbatches) * perStage);
    first.fillsFirst = true;
    return {first};
  case ScheduleKind::oneForwardOneBackward:
    first.inFlight = flightOf(problem, 1, 1);
    first.isStrict = first.fillsFirst = true;
    return {first};
  case ScheduleKind::interleaved:
    first.inFlight = flightOf(problem, 2, 1 + (perStage - 1) * problem.stages);
    first.isStrict = first.fillsFirst = true;
    return {first};
  case ScheduleKind::zeroBubble:
    break;
  }
  // From the microbatches in flight of 1F1B to those that fill the time before the first backward
  // piece.
  std::vector<Preferences> all;
  const std::vector<int64_t> least = flightOf(problem, 1, 1), most = flightBeforeBackward(problem);
  for (int64_t eighths : {0, 4, 7, 8, 9})
    for (bool isStrict : {true, false})
      for (bool fillsFirst : {true, false})
        for (double delay : {0., 0.5, 1.}) {
          Preferences each;
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

/// Returns the 1F1B schedule of `problem`: each piece `weight` runs directly after the piece
/// `backward`. It is no slower than if both were one piece, because messages leave earlier.
std::optional<PipelineSchedule> withoutDelays(const PipelineProblem &problem) {
  PipelineProblem merged = problem;
  merged.kind = ScheduleKind::oneForwardOneBackward;
  for (Chunk &chunk : merged.chunks)
    if (PipelineProblem::Piece *pieces = chunk.pieces; pieces[1].exists && pieces[2].exists) {
      pieces[1].durationNs += pieces[2].durationNs;
      pieces[1].heldBytes = pieces[2].heldBytes;
      pieces[2].exists = false;
    }
  const Preferences preferences = preferencesFor(merged).front();
  std::optional<PipelineSchedule> made = ListScheduler(merged, preferences).run();
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
  if (Error error = measure(problem, *made)) {
    consumeError(std::move(error)); // the order has no cycle, because the merged one has none
    return std::nullopt;
  }
  for (unsigned stage = 0; stage < problem.stages; ++stage)
    if (problem.capacity[stage] && made->peakBytes[stage] > problem.capacity[stage])
      return std::nullopt;
  return made;
}

} // namespace

Expected<PipelineSchedule> dpc::schedulePipeline(const PipelineProblem &problem) {
  if (Error error = problem.check())
    return error;
  if (problem.kind == ScheduleKind::interleaved && problem.microbatches % problem.stages)
    return planError("{0} microbatches are no multiple of {1} stages", problem.microbatches,
                     problem.stages);
  std::optional<PipelineSchedule> best;
  if (problem.kind == ScheduleKind::zeroBubble)
    best = withoutDelays(problem);
  auto timeOf = [&](const PipelineSchedule &schedule) {
    return problem.stepsOverlap ? std::pair(schedule.longestSpanNs, schedule.makespanNs)
                                : std::pair(schedule.makespanNs, schedule.longestSpanNs);
  };
  for (const Preferences &preferences : preferencesFor(problem)) {
    std::optional<PipelineSchedule> made = ListScheduler(problem, preferences).run();
    if (made && (!best || timeOf(*made) < timeOf(*best)))
      best = std::move(made);
  }
  if (!best)
    return planError("no order of schedule {0} satisfies the capacity", nameOf(problem.kind));
  return *std::move(best);
}

// Checks and measures schedules of pipelines.

#include "planning/PipelineSchedule.h"

#include "planning/EventSimulator.h"
#include "planning/PlanError.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>

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

std::optional<unsigned> Chunk::before(unsigned kind) const {
  while (kind-- > 0)
    if (pieces[kind].exists)
      return kind;
  return std::nullopt;
}

unsigned Chunk::afterForward() const { return pieces[1].exists ? 1 : pieces[2].exists ? 2 : 0; }

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
        if (std::optional<unsigned> before = chunk.before(kind))
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
    unsigned last = kPieceKinds - 1;
    while (!chunk.pieces[last].exists)
      --last;
    if (chunk.pieces[last].heldBytes > 0)
      return planError("chunk {0} holds {1} bytes after its last piece", index,
                       chunk.pieces[last].heldBytes);
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

int64_t PipelineProblem::heldChange(unsigned chunk, unsigned kind) const {
  const Chunk &own = chunks[chunk];
  const std::optional<unsigned> before = own.before(kind);
  return own.pieces[kind].heldBytes - (before ? own.pieces[*before].heldBytes : 0);
}

std::vector<int64_t> PipelineProblem::findLifetimes() const {
  std::vector<int64_t> lifetimes(chunks.size());
  Expected<Timeline> timeline = simulateOne(*this);
  if (!timeline) { // check() has excluded this
    consumeError(timeline.takeError());
    return lifetimes;
  }
  for (auto [index, chunk] : enumerate(chunks))
    if (const unsigned kind = chunk.afterForward()) {
      const size_t task = index * kPieceKinds;
      lifetimes[index] = timeline->startNs[task + kind] - timeline->startNs[task];
    }
  return lifetimes;
}

/// The most bytes that the microbatches of a stage hold if it runs `runs` in this order.
static int64_t findPeak(const PipelineProblem &problem, ArrayRef<PieceRun> runs) {
  int64_t held = 0, peak = 0;
  for (const PieceRun &run : runs) {
    held += problem.heldChange(run.chunk, indexOf(run.kind));
    peak = std::max(peak, held);
  }
  return peak;
}

Error PipelineSchedule::measure(const PipelineProblem &problem) {
  const SimProblem sim = makeSimProblem(problem, stages);
  Expected<Timeline> timeline = simulate(sim);
  if (!timeline)
    return timeline.takeError();
  makespanNs = timeline->makespanNs;
  longestSpanNs = 0;
  for (const SimStream &stream : ArrayRef(sim.streams).drop_back())
    if (!stream.order.empty())
      longestSpanNs = std::max(longestSpanNs, timeline->endNs[stream.order.back()] -
                                                  timeline->startNs[stream.order.front()]);
  peakBytes.clear();
  for (const std::vector<PieceRun> &runs : stages)
    peakBytes.push_back(findPeak(problem, runs));
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
  if (Error error = own.measure(problem))
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

std::string PieceRun::toString() const { return describe(chunk, indexOf(kind), microbatch); }

std::string PipelineSchedule::toString() const {
  std::string text;
  for (const std::vector<PieceRun> &runs : stages) {
    for (auto [index, run] : enumerate(runs))
      text += (index ? " " : "") + run.toString();
    text += "\n";
  }
  return text;
}

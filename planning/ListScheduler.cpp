// Simulates the stages of a pipeline, which start one piece after the other.

#include "planning/ListScheduler.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <queue>

using namespace llvm;
using namespace dpc;

using Edge = PipelineProblem::Edge;

namespace {

constexpr int64_t kUnknown = -1, kNever = INT64_MAX;

class ListScheduler {
public:
  ListScheduler(const PipelineProblem &problem, const SchedulePreferences &preferences)
      : problem(problem), preferences(preferences), next(problem.chunks.size() * kPieceKinds),
        ends(next.size() * problem.microbatches, kUnknown), edgesTo(next.size()),
        edgesFrom(next.size()), stages(problem.stages), chunkInFlight(problem.chunks.size()) {
    for (const Edge &edge : problem.edges) {
      edgesTo[pieceOf(edge.to, unsigned(edge.toKind))].push_back(&edge);
      edgesFrom[pieceOf(edge.from, unsigned(edge.fromKind))].push_back(&edge);
    }
    for (auto [index, chunk] : enumerate(problem.chunks)) {
      stages[chunk.stage].chunks.push_back(index);
      for (const PipelineProblem::Piece &piece : chunk.pieces)
        left += piece.exists ? problem.microbatches : 0;
    }
    if (preferences.takesTurns)
      for (Stage &stage : stages)
        orderChunks(stage);
  }

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
    if (Error error = schedule.measure(problem)) {
      consumeError(std::move(error)); // check() has excluded this
      return std::nullopt;
    }
    return std::move(schedule);
  }

private:
  struct Stage {
    std::vector<unsigned> chunks;
    /// If chunks take turns: the chunks of all forward pieces in their order, and those of the
    /// pieces that follow forward pieces.
    std::vector<unsigned> turns[2];
    size_t done[2] = {0, 0};
    /// Forward pieces whose memory no later piece has freed yet.
    int64_t inFlight = 0;
    int64_t freeAt = 0, heldBytes = 0;
  };

  /// A piece that a stage could start next.
  struct Candidate {
    unsigned chunk = 0, kind = 0;
    /// When its operands are there; kNever for no candidate.
    int64_t readyAt = kNever;
  };

  static unsigned pieceOf(unsigned chunk, unsigned kind) { return chunk * kPieceKinds + kind; }
  unsigned afterForward(unsigned chunk) const { return problem.chunks[chunk].afterForward(); }

  void orderChunks(Stage &stage) {
    for (unsigned side : {0u, 1u})
      for (unsigned first = 0; first < problem.microbatches; first += problem.stages)
        for (size_t i = 0; i < stage.chunks.size(); ++i) {
          const unsigned chunk = stage.chunks[side == 0 ? i : stage.chunks.size() - 1 - i];
          const unsigned count = std::min(problem.stages, problem.microbatches - first);
          if (side == 0 || afterForward(chunk))
            stage.turns[side].insert(stage.turns[side].end(), count, chunk);
        }
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
    if (std::optional<unsigned> before = problem.chunks[chunk].before(kind))
      wait(pieceOf(chunk, *before), 0);
    for (const Edge *edge : edgesTo[piece])
      wait(pieceOf(edge->from, unsigned(edge->fromKind)), edge->delayNs);
    return ready;
  }

  /// The next piece of one side, 0 for forward pieces and 1 for those that follow them. With turns,
  /// it is the next one. Without, it is a piece of the last chunk that has a piece at `now`, or the
  /// piece that is ready first. Sets `isFull` if only a limit keeps a forward piece from `now`.
  Candidate findNext(unsigned number, unsigned side, int64_t now, bool &isFull) const {
    const Stage &stage = stages[number];
    auto candidateOf = [&](unsigned chunk) {
      Candidate made{chunk, side == 0 ? 0 : afterForward(chunk), kNever};
      if (side == 0 || made.kind)
        made.readyAt = readyAt(chunk, made.kind);
      if (side == 0 && made.readyAt != kNever && !mayStartForward(number, chunk)) {
        isFull = true;
        made.readyAt = kNever;
      }
      return made;
    };
    if (preferences.takesTurns)
      return stage.done[side] < stage.turns[side].size()
                 ? candidateOf(stage.turns[side][stage.done[side]])
                 : Candidate();
    Candidate best;
    for (unsigned chunk : reverse(stage.chunks)) {
      const Candidate other = candidateOf(chunk);
      if (std::max(other.readyAt, now) < std::max(best.readyAt, now))
        best = other;
    }
    return best;
  }

  bool mayStartForward(unsigned number, unsigned chunk) const {
    const Stage &stage = stages[number];
    if (afterForward(chunk)) {
      if ((preferences.isStrict || (preferences.isStrictAtFirst && stage.done[1] == 0)) &&
          stage.inFlight >= preferences.inFlight[number])
        return false;
      if (!preferences.chunkInFlight.empty() &&
          chunkInFlight[chunk] >= preferences.chunkInFlight[chunk])
        return false;
    }
    return problem.capacity[number] == 0 ||
           stage.heldBytes + problem.heldChange(chunk, 0) <= problem.capacity[number];
  }

  void decide(unsigned number, int64_t now) {
    const Stage &stage = stages[number];
    bool isFull = false;
    const Candidate forward = findNext(number, 0, now, isFull),
                    backward = findNext(number, 1, now, isFull);
    const bool fills = preferences.fillsFirst && stage.inFlight < preferences.inFlight[number];
    if (forward.readyAt <= now && (backward.readyAt > now || fills))
      return start(number, forward.kind, forward.chunk, now);
    if (backward.readyAt <= now)
      return start(number, backward.kind, backward.chunk, now);
    const int64_t soonest = std::min(forward.readyAt, backward.readyAt);
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
      if (problem.chunks[chunk].pieces[2].exists && afterForward(chunk) == 1 &&
          readyAt(chunk, 2) <= now)
        return chunk;
    return std::nullopt;
  }

  void start(unsigned number, unsigned kind, unsigned chunk, int64_t now) {
    Stage &stage = stages[number];
    const unsigned piece = pieceOf(chunk, kind), microbatch = next[piece]++;
    const int64_t end = now + problem.chunks[chunk].pieces[kind].durationNs;
    ends[size_t(piece) * problem.microbatches + microbatch] = end;
    schedule.stages[number].push_back({PieceKind(kind), chunk, microbatch});
    stage.heldBytes += problem.heldChange(chunk, kind);
    stage.freeAt = end;
    if (const unsigned after = afterForward(chunk); kind == 0 || kind == after) {
      ++stage.done[kind == 0 ? 0 : 1];
      const int64_t change = kind ? -1 : after ? 1 : 0;
      stage.inFlight += change;
      chunkInFlight[chunk] += change;
    }
    --left;
    events.push({end, number});
    for (const Edge *edge : edgesFrom[piece]) {
      const unsigned target = problem.chunks[edge->to].stage;
      events.push({std::max(end + edge->delayNs, stages[target].freeAt), target});
    }
  }

  const PipelineProblem &problem;
  const SchedulePreferences &preferences;
  /// By piece (pieceOf): the next microbatch.
  std::vector<unsigned> next;
  /// By piece and microbatch: when it ends; kUnknown if it has not started.
  std::vector<int64_t> ends;
  std::vector<std::vector<const Edge *>> edgesTo, edgesFrom;
  std::vector<Stage> stages;
  /// By chunk: its part of Stage::inFlight.
  std::vector<int64_t> chunkInFlight;
  PipelineSchedule schedule;
  uint64_t left = 0;
  /// Times at which a stage looks for a piece to start. The earliest one is first, and then the
  /// lowest stage.
  std::priority_queue<std::pair<int64_t, unsigned>, std::vector<std::pair<int64_t, unsigned>>,
                      std::greater<std::pair<int64_t, unsigned>>>
      events;
};

} // namespace

std::optional<PipelineSchedule> dpc::scheduleByList(const PipelineProblem &problem,
                                                    const SchedulePreferences &preferences) {
  return ListScheduler(problem, preferences).run();
}

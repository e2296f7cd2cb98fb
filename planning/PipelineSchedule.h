// Orders the work of the stages of a pipeline in one training step.
//
// A chunk is a part of the model (StageCut.h). A stage runs one or several chunks. For each
// microbatch, a chunk runs up to three pieces: the forward pass, the backward pass, and the
// gradients of weights. If the gradients of weights are a piece of their own, they can run later,
// when the stage would otherwise wait (Qi et al., "Zero Bubble Pipeline Parallelism", 2024).

#ifndef DPC_PLANNING_PIPELINESCHEDULE_H
#define DPC_PLANNING_PIPELINESCHEDULE_H

#include "planning/ScheduleKind.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dpc {

/// The part of a chunk's work that a piece does. Each later kind needs the earlier ones of the
/// same chunk and microbatch.
enum class PieceKind : unsigned {
  forward,
  backward, ///< what earlier chunks wait for and, if there is no piece `weight`, all the rest
  weight,   ///< the gradients of weights, for which no other chunk waits
};
inline constexpr unsigned kPieceKinds = 3;

struct PipelineProblem {
  struct Piece {
    /// Whether the chunk has a piece of this kind.
    bool exists = false;
    int64_t durationNs = 0;
    /// Bytes that the chunk holds for one microbatch after this piece, until its next piece ends;
    /// 0 for its last piece.
    int64_t heldBytes = 0;
  };
  struct Chunk {
    unsigned stage = 0;
    /// By PieceKind. Every chunk has a piece `forward`.
    Piece pieces[kPieceKinds];

    /// The kind of the piece that runs before the piece `kind`; none for the first piece.
    std::optional<unsigned> before(unsigned kind) const;
    /// The kind of the piece that follows the forward piece: `backward`, or `weight` if there is no
    /// `backward`; 0 if there is neither.
    unsigned afterForward() const;
  };
  /// A dependency between pieces of different chunks: piece `toKind` of chunk `to` starts at least
  /// `delayNs` after the end of piece `fromKind` of chunk `from`, for each microbatch. If the
  /// chunks are on different stages, a message takes this time.
  struct Edge {
    unsigned from = 0;
    PieceKind fromKind = PieceKind::forward;
    unsigned to = 0;
    PieceKind toKind = PieceKind::forward;
    int64_t delayNs = 0;
  };

  ScheduleKind kind = ScheduleKind::oneForwardOneBackward;
  unsigned stages = 1;
  unsigned microbatches = 1;
  std::vector<Chunk> chunks;
  std::vector<Edge> edges;
  /// By stage: bytes that the microbatches of the stage may hold; 0 for no limit.
  std::vector<int64_t> capacity;
  /// Whether a stage may begin its next step while other stages still run this one. If so, the time
  /// of a schedule is that of the slowest stage from its first to its last piece. If not, it is the
  /// time from the first piece of any stage to the last piece of any stage.
  bool stepsOverlap = false;

  /// Checks that indices are in range, that times and bytes are not negative, that every chunk has
  /// a forward piece and every stage a chunk, that no edge leads from a later kind of piece to an
  /// earlier one, and that pieces do not wait for each other in a cycle.
  llvm::Error check() const;

  /// The bytes that a stage holds after the piece `kind` of `chunk`, minus those before it.
  int64_t heldChange(unsigned chunk, unsigned kind) const;

  /// By chunk: the time from the start of its forward piece to the start of the next piece of a
  /// microbatch, if the pipeline runs no other microbatch; 0 if there is no next piece. check()
  /// must have accepted the problem.
  std::vector<int64_t> findLifetimes() const;
};

/// One piece of work of a stage.
struct PieceRun {
  PieceKind kind = PieceKind::forward;
  unsigned chunk = 0, microbatch = 0;

  /// The chunk, the piece (F, B or W) and the microbatch, e.g. "0F1".
  std::string toString() const;
};

struct PipelineSchedule {
  /// By stage: its pieces in the order in which they run.
  std::vector<std::vector<PieceRun>> stages;
  /// When the last piece ends, if the first one starts at 0.
  int64_t makespanNs = 0;
  /// The longest time of a stage from the start of its first piece to the end of its last one.
  int64_t longestSpanNs = 0;
  /// By stage: the most bytes that its microbatches hold.
  std::vector<int64_t> peakBytes;

  /// Checks that each piece runs once per microbatch on its stage, that the microbatches of a piece
  /// run in their order (so that the sums over microbatches do not depend on the schedule), that no
  /// stage holds more than its capacity, that no stage waits for ever, and that the times and bytes
  /// are those of the order (EventSimulator.h).
  llvm::Error verify(const PipelineProblem &problem) const;

  /// Sets the times and bytes from the order. Fails if stages wait for each other.
  llvm::Error measure(const PipelineProblem &problem);

  /// When each piece ends, if the first one starts at 0. By chunk * kPieceKinds + kind, and then by
  /// microbatch. verify() must have accepted the schedule.
  std::vector<std::vector<int64_t>> findEnds(const PipelineProblem &problem) const;

  /// The share of the schedule's time in which the slowest stage does not compute.
  double bubble(const PipelineProblem &problem) const;

  /// One line per stage, with the text of each piece, e.g. "0F0 0F1 0B0 0W0".
  std::string toString() const;
};

/// Returns a schedule of the kind that the problem asks for. All kinds are settings of one list
/// scheduler (ListScheduler.h). A zero-bubble schedule is the fastest one of several settings,
/// 1F1B among them. If the schedule of this kind holds more than the capacities, the result is the
/// fastest one of several settings with fewer microbatches in flight. Fails if check() fails, or if
/// a capacity is smaller than findSmallestPeaks says.
llvm::Expected<PipelineSchedule> schedulePipeline(const PipelineProblem &problem);

/// By stage: the most bytes that its microbatches hold if the pipeline runs one microbatch after
/// the other. No schedule holds less. check() must have accepted the problem.
std::vector<int64_t> findSmallestPeaks(const PipelineProblem &problem);

/// By chunk: the number of microbatches that a schedule of this kind holds at most, if all pieces
/// take equally long. Chunks are placed by placeChunks (StageCut.h).
std::vector<int64_t> estimateInFlight(ScheduleKind kind, int64_t stages, int64_t chunksPerStage,
                                      int64_t microbatches);

} // namespace dpc

#endif // DPC_PLANNING_PIPELINESCHEDULE_H

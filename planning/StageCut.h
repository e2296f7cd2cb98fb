// Cuts the forward pass of a program into the chunks that the stages of a pipeline run.
//
// A chunk is a range of consecutive ops of the forward pass. The backward pass of these ops, and
// the state that they read, belong to the same chunk. placeChunks says which stage runs a chunk.

#ifndef DPC_PLANNING_STAGECUT_H
#define DPC_PLANNING_STAGECUT_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace dpc {

struct StageCutProblem {
  /// An op of the forward pass, in the order in which the ops run.
  struct Op {
    /// The time of one microbatch: of the op, and of the backward ops that run on the same stage.
    double seconds = 0;
    /// Bytes of the op's results that one microbatch keeps for the backward pass.
    int64_t keptBytes = 0;
  };
  /// A value that an op computes. A chunk receives the value if an earlier chunk computes it and
  /// an op of the chunk reads it.
  struct Value {
    unsigned op = 0;
    /// The ops that read the value, in increasing order. All of them follow `op`.
    std::vector<unsigned> readers;
    /// Bytes that one microbatch sends per chunk that receives the value: the value, and in a
    /// training step also its gradient.
    int64_t bytes = 0;
  };
  /// A tensor of state, e.g. a parameter. Each chunk with a reader holds it.
  struct State {
    /// The ops that read the state, in increasing order.
    std::vector<unsigned> readers;
    /// Bytes of the tensor with its gradient and its optimizer state.
    int64_t bytes = 0;
  };

  std::vector<Op> ops;
  std::vector<Value> values;
  std::vector<State> states;
  /// The number of chunks. Each chunk has at least one op.
  unsigned chunks = 1;
  /// By chunk: the largest number of microbatches whose kept values the chunk holds at a time.
  std::vector<int64_t> inFlight;
  /// The seconds that sending one byte takes.
  double secondsPerByte = 0;
  /// Bytes that a chunk may hold: state, and the kept bytes of the microbatches in flight; 0 for
  /// no limit.
  int64_t capacity = 0;

  /// Checks that every list has the documented order and length, that indices are in range, and
  /// that no number is negative.
  llvm::Error check() const;
};

/// A price of one chunk or the sum of several.
struct ChunkPrice {
  double seconds = 0;
  int64_t receivedBytes = 0, heldBytes = 0;
};

struct StageCut {
  /// By chunk: its first op. The first chunk starts at op 0.
  std::vector<unsigned> starts;

  /// The price of each chunk. Its seconds include the messages that it receives.
  std::vector<ChunkPrice> priceChunks(const StageCutProblem &problem) const;

  /// Checks that the chunks are not empty, that their number is that of the problem, and that no
  /// chunk holds more bytes than the capacity.
  llvm::Error verify(const StageCutProblem &problem) const;
};

/// Returns the best cut. A cut is better than another one if its slowest chunk takes less time. If
/// these times are equal, the cut with fewer received bytes is better, and then the cut with the
/// smaller sum of the squares of the times of its chunks. The search is exact: dynamic
/// programming over the possible ends of each chunk. Fails if check() fails, if there are fewer ops
/// than chunks, or if no cut satisfies the capacity.
llvm::Expected<StageCut> cutStages(const StageCutProblem &problem);

/// Sets the capacity of `problem` to one that some cut satisfies, and returns the best cut with it:
/// to the given one if possible, and else to one that is at most 2 % above the smallest possible
/// one. Fails if check() fails, or if there are fewer ops than chunks.
llvm::Expected<StageCut> cutStagesWithin(StageCutProblem &problem);

/// Returns the stage of each chunk, if every one of `stages` stages runs `perStage` chunks. Chunk c
/// runs on stage c modulo the number of stages. If `turns` is set, the chunks after the last stage
/// run through the stages in the opposite order, and so on: with two chunks per stage, the first
/// stage runs the first and the last chunk.
std::vector<int64_t> placeChunks(int64_t stages, int64_t perStage, bool turns);

} // namespace dpc

#endif // DPC_PLANNING_STAGECUT_H

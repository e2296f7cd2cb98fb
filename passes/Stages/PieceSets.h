// Assigns the ops of an iteration of a pipelined loop to pieces.

#ifndef DPC_PASSES_STAGES_PIECESETS_H
#define DPC_PASSES_STAGES_PIECESETS_H

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/Messages.h"
#include "planning/PipelineSchedule.h"

#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// A piece of an iteration of a stage's loop: a number that increases in the order in which the
/// pieces of one microbatch run. The forward pieces of the stage's chunks come first, and then,
/// from the last chunk to the first one, the backward piece of a chunk and its piece of gradients
/// of weights.
using PieceRank = unsigned;

/// The piece of each op in the body of a loop of a stage. It follows from the messages alone:
///
/// * an op belongs to the last piece of those that receive its operands, or that have an op that
///   computes one of them; without any, to the forward piece of the first chunk;
/// * if gradients of weights are pieces of their own, an op of a backward piece on which no message
///   depends belongs to the piece of gradients of the same chunk.
///
/// An op that only later pieces read belongs to them if they then keep no more bytes. An example is
/// the gather of a parameter for the backward pass. Ops that each piece can repeat, such as
/// constants and broadcasts, belong to no piece.
class PieceSets {
public:
  /// `stage` is the stage that runs `loop`, and the number of its first chunk.
  PieceSets(dist::MicroOp loop, int64_t stage, bool splitsWeights);

  /// All ranks that a piece of this loop can have are below this number.
  PieceRank getRanks() const { return 3 * chunks.size(); }
  PieceKind kindOf(PieceRank rank) const {
    return rank < chunks.size() ? PieceKind::forward : PieceKind(1 + (rank - chunks.size()) % 2);
  }
  int64_t chunkOf(PieceRank rank) const {
    return chunks[rank < chunks.size() ? rank : chunks.size() - 1 - (rank - chunks.size()) / 2];
  }

  /// The piece of `op`, which is no free op. A received message belongs to the first piece that
  /// reads it, and a sent one to the piece that computes it.
  PieceRank rankOf(mlir::Operation *op) const { return ranks.lookup(op); }

  /// Whether every piece can repeat `op`.
  bool isFree(mlir::Operation *op) const { return free.contains(op); }

private:
  void findChunks(int64_t stage);
  void findFree();
  void findRanks();
  void splitWeights();
  void moveToReaders();
  /// The ops of the body that read `value`, directly or through free ops. The terminator is one of
  /// them.
  void addReaders(mlir::Value value, llvm::SmallVectorImpl<mlir::Operation *> &readers) const;
  PieceRank rankOfMessage(dist::RecvOp recv) const;

  mlir::Block &body;
  /// The chunks of the stage in increasing order.
  llvm::SmallVector<int64_t, 2> chunks;
  llvm::DenseMap<mlir::Operation *, PieceRank> ranks;
  llvm::DenseSet<mlir::Operation *> free;
};

} // namespace dpc

#endif // DPC_PASSES_STAGES_PIECESETS_H

// Assigns the ops of an iteration of a pipelined loop to pieces.

#ifndef DPC_PASSES_STAGES_PIECESETS_H
#define DPC_PASSES_STAGES_PIECESETS_H

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/Messages.h"
#include "planning/PipelineSchedule.h"

#include "llvm/ADT/DenseMap.h"

namespace dpc {

/// The piece of each op in the body of a loop of a stage. It follows from the messages alone:
///
/// * `forward`: what does not depend on a message from a later stage;
/// * `backward`: what does;
/// * `weight`, if gradients of weights are a piece of their own: what no message depends on, if it
///   is not needed for a message from its own piece.
///
/// An op of the forward piece that only later pieces read belongs to them if they then keep no more
/// bytes. An example is the gather of a parameter for the backward pass. Ops that each piece can
/// repeat, such as constants and broadcasts, belong to no piece.
class PieceSets {
public:
  /// `stage` is the stage that runs `loop`.
  PieceSets(dist::MicroOp loop, int64_t stage, bool splitsWeights);

  /// Whether the loop has messages from later stages or to earlier ones, so that pieces of
  /// different microbatches can alternate.
  bool hasBackward() const { return isPipelined; }

  /// The piece of `op`, which is no message and no free op.
  PieceKind pieceOf(mlir::Operation *op) const { return PieceKind(kinds.lookup(op)); }

  /// Whether every piece can repeat `op`.
  bool isFree(mlir::Operation *op) const { return free.contains(op); }

private:
  void findFree();
  void findKinds(bool splitsWeights);
  void moveToReaders();
  /// The ops of the body that read `value`, directly or through free ops. The terminator is one of
  /// them.
  void addReaders(mlir::Value value, llvm::SmallVectorImpl<mlir::Operation *> &readers) const;
  bool isBackward(mlir::Operation *message) const;

  mlir::Block &body;
  const int64_t stage;
  bool isPipelined = false;
  llvm::DenseMap<mlir::Operation *, unsigned> kinds;
  llvm::DenseSet<mlir::Operation *> free;
};

} // namespace dpc

#endif // DPC_PASSES_STAGES_PIECESETS_H

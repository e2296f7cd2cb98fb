#ifndef DPC_PASSES_LOWERING_PIECELOWERING_H
#define DPC_PASSES_LOWERING_PIECELOWERING_H

#include "passes/Lowering/BlockLowering.h"

#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Pieces.h"
#include "planning/StageOrder.h"

#include "llvm/ADT/MapVector.h"

namespace dpc {

/// Lowers a loop whose body consists of pieces and messages: each piece becomes an exec.routine,
/// and the entry runs the routines and messages of all microbatches in the order that
/// dpc-schedule-pipeline has chosen (`dist.order`).
///
/// Values that one piece computes and a later piece or a message reads lie in frames. A frame holds
/// the values with equal makers and equal last readers. Each microbatch has frames of its own,
/// which the memory plan places like other buffers.
class PieceLowering {
public:
  /// `outer` lowers the block of `micro`, and has lowered the operands of `micro`.
  PieceLowering(BlockLowering &outer, dist::MicroOp micro);

  /// Lowers the loop. BlockLowering has created the buffers of its results.
  mlir::LogicalResult run();

private:
  /// Values that lie one after the other. The order of members is that of the block.
  struct Frame {
    exec::Space space = exec::Space::arena;
    llvm::SmallVector<std::pair<mlir::Value, int64_t>> members; ///< each with its offset
    int64_t bytes = 0;
    int64_t number = 0; ///< different for all frames of the loop
  };
  /// An operand of the runs of a routine: a frame of the run's microbatch, or a buffer of the entry
  /// that all runs use.
  struct Operand {
    const Frame *frame = nullptr;
    mlir::Value buffer;
  };
  struct Routine {
    exec::RoutineOp op;
    llvm::SmallVector<Operand> operands;
  };

  void findFrames();
  mlir::LogicalResult lowerPiece(dist::PieceOp piece);
  mlir::LogicalResult emit(const StageOrder &order);
  mlir::LogicalResult emitMessage(const StageStep &step);

  /// The type of the buffer of `frame`: that of its only member, or bytes.
  mlir::MemRefType typeOf(const Frame &frame) const;
  /// The buffer of `frame` for a microbatch, which is created at its first use.
  mlir::Value instanceOf(const Frame &frame, int64_t microbatch);
  /// The part of `whole`, the buffer of the frame that holds `value`, with this value.
  static mlir::Value partOf(mlir::OpBuilder &builder, mlir::Value value, mlir::Value whole,
                            const Frame &frame);

  BlockLowering &outer;
  dist::MicroOp micro;
  mlir::Block &body;
  llvm::SmallVector<dist::PieceOp> pieces;
  llvm::MapVector<std::tuple<int64_t, int64_t, exec::Space>, Frame> frames;
  llvm::DenseMap<mlir::Value, const Frame *> frameOf;
  llvm::SmallVector<Routine> routines; ///< by piece
  llvm::DenseMap<std::pair<const Frame *, int64_t>, mlir::Value> instances;
  llvm::DenseMap<int64_t, mlir::Operation *> messages; ///< by number
  llvm::DenseMap<std::pair<int64_t, int64_t>, mlir::Value> events;
};

} // namespace dpc

#endif // DPC_PASSES_LOWERING_PIECELOWERING_H

// The parts of an iteration of a pipelined loop.

#ifndef DPC_DIALECTS_DIST_IR_PIECES_H
#define DPC_DIALECTS_DIST_IR_PIECES_H

#include "dialects/Dist/IR/Collectives.h"

#define GET_OP_CLASSES
#include "dialects/Dist/IR/Pieces.h.inc"

namespace dpc::dist {

/// The pieces of `loop`, in their order.
llvm::SmallVector<PieceOp> piecesOf(MicroOp loop);

/// The values from around `piece` that its ops read, in the order in which they are first read.
llvm::SmallVector<mlir::Value> readBy(PieceOp piece);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_PIECES_H

// The ops by which the stages of a pipeline exchange tensors.

#ifndef DPC_DIALECTS_DIST_IR_MESSAGES_H
#define DPC_DIALECTS_DIST_IR_MESSAGES_H

#include "dialects/Dist/IR/DistDialect.h"

#define GET_OP_CLASSES
#include "dialects/Dist/IR/Messages.h.inc"

namespace dpc::dist {

/// The mesh axis of the stages: dpc::kPipeAxis of the plan.
extern const llvm::StringLiteral kPipeAxis;

/// Whether `op` exchanges data with other stages. Such ops keep their order in a block: if two
/// stages had them in different orders, each could wait for the other one.
inline bool isMessage(mlir::Operation *op) { return mlir::isa<SendOp, RecvOp, StageReduceOp>(op); }

/// Whether `op` is a message to an earlier chunk of a pipeline.
inline bool isBackwardMessage(mlir::Operation *op) {
  if (auto send = mlir::dyn_cast<SendOp>(op))
    return send.getBackward();
  auto recv = mlir::dyn_cast<RecvOp>(op);
  return recv && recv.getBackward();
}

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_MESSAGES_H

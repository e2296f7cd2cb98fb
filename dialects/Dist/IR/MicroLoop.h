#ifndef DPC_DIALECTS_DIST_IR_MICROLOOP_H
#define DPC_DIALECTS_DIST_IR_MICROLOOP_H

#include "dialects/Dist/IR/Collectives.h"

namespace dpc::dist {

/// Adds the operand `value` to `loop`, with kind `whole`: every iteration gets the complete
/// value. Returns the argument of the body for it.
mlir::BlockArgument addWholeInput(MicroOp loop, mlir::Value value);

/// Removes the operands of `loop` that its body does not read.
void eraseUnreadInputs(MicroOp loop);

/// Replaces `loop` by a loop with additional last results: the sums of `values`, which are
/// values of the body, over the iterations. The other results are those of `loop`, in their
/// order.
MicroOp addSums(MicroOp loop, llvm::ArrayRef<mlir::Value> values);

/// Replaces `loop` by a loop without the results that have no users.
void eraseUnreadResults(MicroOp loop);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_MICROLOOP_H

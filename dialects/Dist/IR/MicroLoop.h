#ifndef DPC_DIALECTS_DIST_IR_MICROLOOP_H
#define DPC_DIALECTS_DIST_IR_MICROLOOP_H

#include "dialects/Dist/IR/Collectives.h"

namespace dpc::dist {

/// Adds the operand `value` to `loop` with kind `whole`, so that every iteration gets the
/// complete value. Returns the argument that represents it in the body.
mlir::BlockArgument addWholeInput(MicroOp loop, mlir::Value value);

/// Removes the operands of `loop` that its body does not read.
void eraseUnreadInputs(MicroOp loop);

/// Replaces `loop` by a loop with additional results after its own: the sums of `values`
/// over all iterations. `values` are values of the loop's body.
MicroOp addSums(MicroOp loop, llvm::ArrayRef<mlir::Value> values);

/// Replaces `loop` by a loop without the results that have no users.
void eraseUnreadResults(MicroOp loop);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_MICROLOOP_H

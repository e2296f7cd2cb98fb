#ifndef DPC_DIALECTS_DIST_IR_MICROLOOP_H
#define DPC_DIALECTS_DIST_IR_MICROLOOP_H

#include "dialects/Dist/IR/Collectives.h"

namespace dpc::dist {

/// Gives `loop` the operand `value`, whole in each iteration. Returns what stands for it in
/// the body.
mlir::BlockArgument addWholeInput(MicroOp loop, mlir::Value value);

/// Takes from `loop` the operands that its body does not read.
void eraseUnreadInputs(MicroOp loop);

/// Puts in the place of `loop`, which is erased, one whose last results are the sums of
/// `values` over its iterations: values of the body. Its other results are those of `loop`,
/// in their order.
MicroOp addSums(MicroOp loop, llvm::ArrayRef<mlir::Value> values);

/// Takes from `loop` the results that nobody reads, and puts one without them in its place.
void eraseUnreadResults(MicroOp loop);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_MICROLOOP_H

// The ops by which the stages of a pipeline exchange tensors.

#ifndef DPC_DIALECTS_DIST_IR_MESSAGES_H
#define DPC_DIALECTS_DIST_IR_MESSAGES_H

#include "dialects/Dist/IR/DistDialect.h"

#define GET_OP_CLASSES
#include "dialects/Dist/IR/Messages.h.inc"

namespace dpc::dist {

/// The mesh axis whose coordinate is the number of a device's stage.
constexpr llvm::StringLiteral kPipeAxis = "pipe";

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_MESSAGES_H

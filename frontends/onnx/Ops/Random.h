// Masks that a hand-written dropout draws.

#ifndef DPC_FRONTENDS_ONNX_OPS_RANDOM_H
#define DPC_FRONTENDS_ONNX_OPS_RANDOM_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// The node that draws operand `i` uniformly from [0, 1) for this node alone,
/// which compares it; or nullptr.
const Node *uniformSource(Conversion &c, unsigned i);
/// Converts Less(uniform, p): true with probability p.
mlir::LogicalResult convertUniformBelow(Conversion &c);
/// What `mask / divisor` is when `mask` is a converted draw that holds with
/// probability `divisor`: dropout of ones, which an evaluation step turns into
/// ones. Null for any other operands.
mlir::Value scaledMask(Conversion &c, mlir::Value mask,
                       std::optional<llvm::SmallVector<double>> divisor);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_RANDOM_H

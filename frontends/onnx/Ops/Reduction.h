// Roots of sums, as norms have them.

#ifndef DPC_FRONTENDS_ONNX_OPS_REDUCTION_H
#define DPC_FRONTENDS_ONNX_OPS_REDUCTION_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// `root(sum)` of a sum of powers, and 0 with gradient 0 where the sum is 0.
/// There the slope of a root is infinite, and a product with the slope 0 of the
/// powers would be NaN. PyTorch's norms have gradient 0 at 0 too.
mlir::Value rootOfPowers(Conversion &c, mlir::Value sum,
                         llvm::function_ref<mlir::Value(mlir::Value)> root);
/// The same of a square root.
mlir::Value rootOfSquares(Conversion &c, mlir::Value sum);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_REDUCTION_H

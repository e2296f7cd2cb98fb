// Roots of sums, as norms use them.

#ifndef DPC_FRONTENDS_ONNX_OPS_REDUCTION_H
#define DPC_FRONTENDS_ONNX_OPS_REDUCTION_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// `root(sum)` of a sum of powers, with result 0 and gradient 0 if the sum is 0. At
/// 0 the slope of a root is infinite, and its product with the slope 0 of the
/// powers would be NaN. PyTorch's norms have gradient 0 at 0 too.
mlir::Value rootOfPowers(Conversion &c, mlir::Value sum,
                         llvm::function_ref<mlir::Value(mlir::Value)> root);
/// rootOfPowers with the square root as `root`.
mlir::Value rootOfSquares(Conversion &c, mlir::Value sum);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_REDUCTION_H

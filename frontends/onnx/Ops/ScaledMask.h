// Recognises dropout that a module writes out as a drawn mask and a scale.

#ifndef DPC_FRONTENDS_ONNX_OPS_SCALEDMASK_H
#define DPC_FRONTENDS_ONNX_OPS_SCALEDMASK_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

// In all of these the drawn mask is true with probability p and is 0 or 1 in
// training. Mask and division by p together are a dropout of ones, which is all
// ones in an evaluation step. Each function returns null for any other operands.

/// The result of Div for mask / p and for (x * mask) / p.
mlir::Value dividedMask(Conversion &c);
/// The result of Mul for (x / p) * mask and (x * mask) * (1 / p), in any order.
mlir::Value multipliedMask(Conversion &c);
/// The result of Where for (mask, x / p, 0) and (mask, 1 / p, 0). If only this node
/// reads the mask, also for the inverted mask: (drop, 0, x / p). Where with an
/// unscaled x gives an nn.select, which dividedMask and multipliedMask recognise.
mlir::Value chosenMask(Conversion &c);
/// The result of Not for a mask that no other node reads: a mask that is true with
/// probability 1 - p.
mlir::Value negatedMask(Conversion &c);
/// The result of Sub for 1 - mask, under the same conditions.
mlir::Value remainingMask(Conversion &c);
/// The result of Floor for p + u, with u drawn uniformly from [0, 1) and not read
/// elsewhere: a mask.
mlir::Value flooredMask(Conversion &c);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_SCALEDMASK_H

// Recognises dropout that a module writes out as a drawn mask and a scale.

#ifndef DPC_FRONTENDS_ONNX_OPS_SCALEDMASK_H
#define DPC_FRONTENDS_ONNX_OPS_SCALEDMASK_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

// In all functions below, mask is a drawn mask that is true (or 1) with probability p.
// The mask and the division by p together are a dropout of ones, which is all ones in
// evaluation. Each function recognises the given form of the node's operands, and returns null
// for any other operands.

/// The result of a Div for the forms mask / p and (x * mask) / p.
mlir::Value dividedMask(Conversion &c);
/// The result of a Mul for the forms mask * (1 / p), (x / p) * mask and
/// (x * mask) * (1 / p), with the factors in any order.
mlir::Value multipliedMask(Conversion &c);
/// The result of a Where for the forms (mask, x / p, 0) and (mask, 1 / p, 0). If no other
/// node reads the mask, the mask may also be inverted: (drop, 0, x / p). A Where with an
/// x that is not divided by p becomes an nn.select, which dividedMask and multipliedMask
/// recognise.
mlir::Value chosenMask(Conversion &c);
/// The result of a Not of a mask that no other node reads: a mask that is true with
/// probability 1 - p.
mlir::Value negatedMask(Conversion &c);
/// The result of a Sub for the form 1 - mask, if no other node reads the mask: a mask
/// that is 1 with probability 1 - p.
mlir::Value remainingMask(Conversion &c);
/// The result of a Floor of p + u: a mask. u must be drawn uniformly from [0, 1), and no
/// other node may read it.
mlir::Value flooredMask(Conversion &c);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_SCALEDMASK_H

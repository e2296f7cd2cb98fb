// Dropout that a module writes out: what is drawn, and the scale that goes with it.

#ifndef DPC_FRONTENDS_ONNX_OPS_SCALEDMASK_H
#define DPC_FRONTENDS_ONNX_OPS_SCALEDMASK_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

// In all of these the drawn mask, which holds with probability p, is 0 or 1 in
// training. Together with the division by p it is dropout of ones, which an
// evaluation step turns into ones. Each gives null for any other operands.

/// What Div gives for mask / p, and for (x * mask) / p.
mlir::Value dividedMask(Conversion &c);
/// What Mul gives for (x / p) * mask and (x * mask) * (1 / p), in any order.
mlir::Value multipliedMask(Conversion &c);
/// What Where gives for (mask, x / p, 0), (mask, 1 / p, 0) and, where nothing
/// else reads the mask, the same with the mask turned round: (drop, 0, x / p). The
/// result for x alone is a choice that Div and Mul know.
mlir::Value chosenMask(Conversion &c);
/// What Not gives for a mask that nothing else reads: one that holds with
/// probability 1 - p.
mlir::Value negatedMask(Conversion &c);
/// What Sub gives for 1 - mask, likewise.
mlir::Value remainingMask(Conversion &c);
/// What Floor gives for p + u, where u is drawn uniformly from [0, 1) for it
/// alone: a mask.
mlir::Value flooredMask(Conversion &c);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_SCALEDMASK_H

// Which gradient a function has where it has no derivative.

#ifndef DPC_FRONTENDS_ONNX_OPS_KINKS_H
#define DPC_FRONTENDS_ONNX_OPS_KINKS_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

// PyTorch's functions differ there, and several of them become one operator of
// ONNX. The call that the default exporter names in a node's metadata tells them
// apart. TorchScript's exporter names none, so the form of the graph decides.

/// Whether the node, a Sqrt or a Pow, is the root of a norm or a standard
/// deviation, which has gradient 0 at 0.
bool isRootOfNorm(Conversion &c);

/// Whether the node, a maximum or minimum along `dimensions`, gives all of its
/// gradient to the first of equal elements, as PyTorch's max along a dimension
/// and its pools do. The others (amax, the maximum of all elements) divide it.
bool choosesFirst(Conversion &c, llvm::ArrayRef<int64_t> dimensions);

/// A bound of a clamp.
enum class Bound {
  /// A number, as PyTorch's clamp, relu6 and hardtanh take it: gradient 0 at the bound.
  number,
  /// A tensor: at the bound, half of the gradient for each, as for a maximum.
  tensor,
};

/// What the bounds of the node are: a Clip, or a Max or Min. nullopt: the Max or
/// Min is no clamp.
struct ClampBounds {
  Bound low, high;
};
std::optional<ClampBounds> clampBounds(Conversion &c);

/// `x` between bounds of its shape; null stands for a bound that is not there.
mlir::Value clampTo(Conversion &c, mlir::Value x, mlir::Value low, mlir::Value high,
                    ClampBounds bounds);

/// max(ln x, `least`) of a logarithm and a number, as cross entropies of
/// probabilities have it; null for other operands. Where the number is larger, no
/// gradient meets the infinite slope of ln at 0: a product with it would be NaN.
mlir::Value boundedLog(Conversion &c);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_KINKS_H

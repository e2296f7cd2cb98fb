// Decides the gradient of a function at points where it has no derivative.

#ifndef DPC_FRONTENDS_ONNX_OPS_KINKS_H
#define DPC_FRONTENDS_ONNX_OPS_KINKS_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

// PyTorch's functions have different gradients at such points, and several functions
// become the same ONNX operator. The default exporter records the call in a node's
// metadata, and the call tells which function it was. TorchScript's exporter records no
// call, so the form of the graph decides.

/// Whether the node, a Sqrt or a Pow, is the root of a norm or of a standard deviation.
/// PyTorch gives both of them gradient 0 at 0.
bool isRootOfNorm(Conversion &c);

/// Whether the node, a maximum or minimum along `dimensions`, gives all of its
/// gradient to the first of equal elements. PyTorch's max along a dimension and its
/// pools do so. Other functions of PyTorch (amax, the maximum of all elements) divide the
/// gradient among equal elements.
bool choosesFirst(Conversion &c, llvm::ArrayRef<int64_t> dimensions);

/// A bound of a clamp.
enum class Bound {
  /// A number, as in PyTorch's clamp, relu6 and hardtanh: gradient 0 at the bound.
  number,
  /// A tensor: at the bound, x and the bound get half of the gradient each, as for
  /// a maximum.
  tensor,
};

/// The kinds of the bounds of the node, which is a Clip, Max or Min. nullopt if the node
/// is a Max or Min that is not a clamp.
struct ClampBounds {
  Bound low, high;
};
std::optional<ClampBounds> clampBounds(Conversion &c);

/// `x` clamped to `low` and `high`, which have the shape of `x`. A null bound does not
/// limit `x`.
mlir::Value clampTo(Conversion &c, mlir::Value x, mlir::Value low, mlir::Value high,
                    ClampBounds bounds);

/// max(ln x, `least`) if the operands are a logarithm and a number `least`, as in cross
/// entropies of probabilities; null for other operands. If `least` is larger than ln x,
/// no gradient reaches the logarithm. A zero gradient that is passed to the logarithm
/// would give NaN at x = 0, because the slope of ln x is infinite there.
mlir::Value boundedLog(Conversion &c);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_KINKS_H

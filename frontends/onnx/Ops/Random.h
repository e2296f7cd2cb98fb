// Converts masks that a module draws in its own code for dropout.

#ifndef DPC_FRONTENDS_ONNX_OPS_RANDOM_H
#define DPC_FRONTENDS_ONNX_OPS_RANDOM_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// The only operand that reads the elements of `value` (CastLike reads only its
/// type); nullopt if there are none or several, or if `value` is an output of the
/// model.
std::optional<Use> soleReader(const Graph &graph, ValueId value);
/// Whether the node draws uniformly from [0, 1).
bool drawsUnit(const Node &node);
/// For a comparison (Less, Greater, ..) of one number with an operand that is drawn
/// uniformly from [0, 1) and has no other reader: the mask that the comparison
/// gives. Null for other operands; null and an error for a number outside of [0,
/// 1].
mlir::Value comparedMask(Conversion &c, nn::Comparison comparison);
/// Booleans of `shape`, each true with probability `p`: the mask of a dropout of
/// ones. In an evaluation step all are true.
mlir::Value drawMask(Conversion &c, mlir::ArrayRef<int64_t> shape, double p);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_RANDOM_H

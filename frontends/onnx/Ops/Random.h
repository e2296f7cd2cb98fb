// Converts masks that a module draws in its own code for dropout.

#ifndef DPC_FRONTENDS_ONNX_OPS_RANDOM_H
#define DPC_FRONTENDS_ONNX_OPS_RANDOM_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// The only operand that reads the elements of `value`. The second operand of CastLike
/// does not count, because only its type is read. nullopt if no operand or several
/// operands read the elements, or if `value` is an output of the model.
std::optional<Use> soleReader(const Graph &graph, ValueId value);
/// Whether the node draws uniformly from [0, 1).
bool drawsUnit(const Node &node);
/// The mask that a comparison (Less, Greater, ..) gives if it compares one number with an
/// operand that is drawn uniformly from [0, 1) and that no other node reads. Null for
/// other operands. If the number is outside of [0, 1], reports an error and returns null.
mlir::Value comparedMask(Conversion &c, nn::Comparison comparison);
/// Booleans of shape `shape`, each true with probability `p`. They are the mask of a
/// dropout of ones, so in evaluation all of them are true.
mlir::Value drawMask(Conversion &c, mlir::ArrayRef<int64_t> shape, double p);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_RANDOM_H

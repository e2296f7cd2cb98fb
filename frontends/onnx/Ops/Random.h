// Converts masks that a module draws in its own code for dropout.

#ifndef DPC_FRONTENDS_ONNX_OPS_RANDOM_H
#define DPC_FRONTENDS_ONNX_OPS_RANDOM_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// The only operand that reads the elements of `value`. The second operand of CastLike
/// does not count, because only its type is read. nullopt if no operand or several
/// operands read the elements, if a node of a subgraph reads them, or if `value` is an output
/// of the model.
std::optional<Use> soleReader(const Graph &graph, ValueId value);
/// Whether the node draws uniformly from [0, 1).
bool drawsUnit(const Node &node);
/// The result of the node, a comparison (Less, Greater, ..), if one of its operands is
/// drawn uniformly from [0, 1) and no other node reads that operand. Null if neither
/// operand is such a draw. If the other operand is one known number, the result is the
/// mask of a dropout; a number outside of [0, 1] is an error, and the result is null.
/// Otherwise, the result compares an nn.draw_uniform with the other operand.
mlir::Value comparedMask(Conversion &c, nn::Comparison comparison);
/// Booleans of shape `shape`, each true with probability `p`. They are the mask of a
/// dropout of ones, so in evaluation all of them are true.
mlir::Value drawMask(Conversion &c, mlir::ArrayRef<int64_t> shape, double p);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_RANDOM_H

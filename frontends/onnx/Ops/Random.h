// Masks that a hand-written dropout draws.

#ifndef DPC_FRONTENDS_ONNX_OPS_RANDOM_H
#define DPC_FRONTENDS_ONNX_OPS_RANDOM_H

#include "frontends/onnx/Import/Conversion.h"

namespace dpc::onnx {

/// The one place that reads numbers of `value`, other than for their type;
/// nullopt if there are none or several, or if the model gives it out.
std::optional<Use> soleReader(const Graph &graph, ValueId value);
/// Whether the node draws uniformly from [0, 1).
bool drawsUnit(const Node &node);
/// What a comparison (Less, Greater, ..) gives of a number that is drawn uniformly
/// from [0, 1) for it alone: a mask, where the other operand is one number. Null
/// for any other operands, null and an error for a number outside of [0, 1].
mlir::Value comparedMask(Conversion &c, nn::Comparison comparison);
/// Booleans of `shape`, each true with probability `p`: the mask of a dropout of
/// ones, which is all ones in an evaluation step.
mlir::Value drawMask(Conversion &c, mlir::ArrayRef<int64_t> shape, double p);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_OPS_RANDOM_H

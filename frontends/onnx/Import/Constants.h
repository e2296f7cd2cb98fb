// Evaluates, folds and emits values that are known at import.

#ifndef DPC_FRONTENDS_ONNX_IMPORT_CONSTANTS_H
#define DPC_FRONTENDS_ONNX_IMPORT_CONSTANTS_H

#include "dialects/Interfaces/HostTensor.h"
#include "frontends/onnx/Model/Tensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>

namespace dpc::onnx {

/// Largest tensor, in elements, that importing computes on the host. Larger tensors
/// are computed by ops of the program.
constexpr int64_t kMaxFoldedElements = int64_t(1) << 22;
/// A constant with more elements becomes an argument of the function. A dimension
/// along which all elements are equal counts as extent 1.
constexpr int64_t kMaxInlineElements = 1024;

/// The elements of `value` if it depends on constants alone. The ops' own interpreter
/// rules compute them, and each result is rounded to its type. nullopt if `value` depends
/// on an argument, if it or an intermediate result has more than kMaxFoldedElements
/// elements, or if an op fails.
std::optional<HostTensor> evaluate(mlir::Value value);

/// Whether `value` is a tensor of floats that depends on constants alone and has only zeros.
bool isZero(mlir::Value value);

/// `tensor` without the dimensions along which its elements do not change. If there
/// are such dimensions, those of extent 1 are dropped too. `kept` lists the
/// remaining dimensions.
HostTensor dropConstantDimensions(const HostTensor &tensor, llvm::SmallVectorImpl<int64_t> &kept);

/// Emits `tensor` as a constant. A dimension along which the elements do not change
/// becomes a broadcast. So a mask that the exporter repeated for every sample has the
/// same IR as a mask that the model itself broadcasts.
mlir::Value emitConstant(mlir::OpBuilder &builder, mlir::Location loc, const HostTensor &tensor);

/// Folds the ops from `begin` to `end` whose operands are constants, if folding is exact.
/// It is exact for integer results, for floats that are only moved, selected, negated or
/// rounded to integers, and for float arithmetic on small integers. Integer results include
/// a few integers that float arithmetic on constants gives, such as int(sqrt(49)). Other
/// float arithmetic is not folded, because a later pass may widen every float to f64. In
/// `results`, each folded result is replaced by its constant.
void foldConstants(mlir::OpBuilder &builder, mlir::Block::iterator begin, mlir::Block::iterator end,
                   llvm::MutableArrayRef<mlir::Value> results);

/// Canonicalizes `function`, so that its form does not depend on the exporter. Folds its
/// ops, merges equal ops and constants, and erases unused ops. Then moves its constants
/// to the front, in the order of their first use.
mlir::LogicalResult tidy(mlir::FunctionOpInterface function);

/// The elements of an ONNX tensor, converted to the element type `element`. That type
/// must be able to represent each element.
HostTensor toHostTensor(mlir::Type element, const Tensor &tensor);

/// Zeros of type `element` in the shape of `tensor`.
mlir::ElementsAttr zeros(mlir::Type element, const Tensor &tensor);

/// The elements as an attribute: a splat if all are equal, a dense attribute for
/// small tensors, else a resource `name`. The resource refers to the elements without
/// copying them, and keeps the owner of their memory alive.
mlir::ElementsAttr toAttribute(mlir::MLIRContext *context, const Tensor &tensor,
                               llvm::StringRef name);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_CONSTANTS_H

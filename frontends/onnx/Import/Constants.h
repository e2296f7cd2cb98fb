// Values that are known while importing.

#ifndef DPC_FRONTENDS_ONNX_IMPORT_CONSTANTS_H
#define DPC_FRONTENDS_ONNX_IMPORT_CONSTANTS_H

#include "dialects/Interfaces/HostTensor.h"
#include "frontends/onnx/Model/Tensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>

namespace dpc::onnx {

/// Largest tensor that importing computes on the host; larger ones stay
/// operations of the program.
constexpr int64_t kMaxFoldedElements = int64_t(1) << 22;
/// Constants with more elements (that are not equal along a dimension) become
/// arguments.
constexpr int64_t kMaxInlineElements = 1024;

/// What `value` is when it depends on constants alone, computed by the ops' own
/// interpreter rules, each result rounded to its type; nullopt when it depends
/// on an argument or is too large.
std::optional<HostTensor> evaluate(mlir::Value value);

/// `tensor` without the dimensions along which it does not change (and, when
/// there are any, without those of extent 1); `kept` lists the others.
HostTensor dropConstantDimensions(const HostTensor &tensor, llvm::SmallVectorImpl<int64_t> &kept);

/// Emits `tensor` as a constant. Dimensions along which it does not change
/// become a broadcast, so that a mask with the batch baked in and one computed
/// for it print the same.
mlir::Value emitConstant(mlir::OpBuilder &builder, mlir::Location loc, const HostTensor &tensor);

/// Replaces what the ops from `begin` to `end` compute from constants alone by
/// constants, where that is exact: integer results (a few integers also of what
/// float arithmetic on constants gives), floats that are only moved,
/// selected or negated, and floats that count (rounded arithmetic stays,
/// because a later pass may widen every float). `results` are replaced along.
void foldConstants(mlir::OpBuilder &builder, mlir::Block::iterator begin, mlir::Block::iterator end,
                   llvm::MutableArrayRef<mlir::Value> results);

/// Brings `function` to the form that does not depend on how its exporter wrote
/// it: folds, merges equal operations and constants, drops what is not used,
/// and puts the constants first, in the order of their first use.
mlir::LogicalResult tidy(mlir::FunctionOpInterface function);

/// The elements of an ONNX tensor as `element`, which holds each of them.
HostTensor toHostTensor(mlir::Type element, const Tensor &tensor);

/// Zeros of type `element` in the shape of `tensor`.
mlir::ElementsAttr zeros(mlir::Type element, const Tensor &tensor);

/// The elements as an attribute: a splat when all are equal, a dense attribute
/// for small tensors, else a resource `name` that views them where they lie and
/// keeps their owner alive.
mlir::ElementsAttr toAttribute(mlir::MLIRContext *context, const Tensor &tensor,
                               llvm::StringRef name);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_IMPORT_CONSTANTS_H

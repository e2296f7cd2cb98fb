#ifndef DPC_DIALECTS_NN_IR_NNDIALECT_H
#define DPC_DIALECTS_NN_IR_NNDIALECT_H

#include "dialects/Interfaces/Interfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/NN/IR/NNEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/NN/IR/NNAttrs.h.inc"

#include "dialects/NN/IR/NNDialect.h.inc"

namespace dpc::nn {

/// The `#nn.arg` of function argument `index`, or null.
ArgAttr getArg(mlir::FunctionOpInterface function, unsigned index);
/// The `#nn.result` of function result `index`, or null.
ResultAttr getResult(mlir::FunctionOpInterface function, unsigned index);

/// Whether arguments of this kind are state, which persists from one step to the
/// next: parameters, buffers, constants and optimizer state.
bool isState(ArgKind kind);

/// A tensor type with the element type of `type` and the extents `shape`.
inline mlir::RankedTensorType withShape(mlir::RankedTensorType type,
                                        llvm::ArrayRef<int64_t> shape) {
  return mlir::RankedTensorType::get(shape, type.getElementType());
}

/// The type of `value`, which must be a ranked tensor. All values of the nn dialect
/// are ranked tensors.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Fails with an error on `op` unless `dimensions` are strictly increasing and in
/// [0, rank). `what` names the list in the message.
mlir::LogicalResult verifyIncreasing(mlir::Operation *op, llvm::ArrayRef<int64_t> dimensions,
                                     int64_t rank, llvm::StringRef what);

} // namespace dpc::nn

#endif // DPC_DIALECTS_NN_IR_NNDIALECT_H

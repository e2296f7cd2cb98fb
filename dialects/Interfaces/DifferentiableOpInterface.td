#ifndef DPC_DIALECTS_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    Builds the vector-Jacobian product (VJP) of an op: the gradients of its operands
    from the gradients of its results. An op of float type without this interface
    must not be on a path from a parameter to the loss.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds, at the builder's insertion point, the gradient of every operand
      whose `wanted` entry is true, from `resultGrads` (one entry a result, null
      where no gradient reaches it; at least one is not null). Sets
      `operandGrads[i]` to a value of operand i's type, or leaves it null where
      the gradient is zero everywhere. Operands and results of the op itself may
      be used: they dominate the insertion point.
    }], "::mlir::LogicalResult", "buildVjp",
      (ins "::mlir::OpBuilder &":$builder,
           "::mlir::ArrayRef<::mlir::Value>":$resultGrads,
           "::mlir::ArrayRef<bool>":$wanted,
           "::mlir::MutableArrayRef<::mlir::Value>":$operandGrads)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD

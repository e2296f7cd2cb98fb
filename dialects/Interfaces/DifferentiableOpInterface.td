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
      Builds the gradients of the operands whose entry of `wanted` is true, at the
      builder's insertion point. `resultGrads` has the gradient of each result; it
      is null for a result that no gradient reaches, but at least one entry is not
      null. Sets `operandGrads[i]` to a value of the type of operand i. Leaves it
      null if the gradient is zero everywhere. The new ops may use operands and
      results of the op, because these dominate the insertion point.
    }], "::mlir::LogicalResult", "buildVjp",
      (ins "::mlir::OpBuilder &":$builder,
           "::mlir::ArrayRef<::mlir::Value>":$resultGrads,
           "::mlir::ArrayRef<bool>":$wanted,
           "::mlir::MutableArrayRef<::mlir::Value>":$operandGrads)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_DIFFERENTIABLEOPINTERFACE_TD

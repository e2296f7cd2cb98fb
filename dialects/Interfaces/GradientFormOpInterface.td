#ifndef DPC_DIALECTS_INTERFACES_GRADIENTFORMOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_GRADIENTFORMOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def GradientFormOpInterface : OpInterface<"GradientFormOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    An op that passes its operand on as its result, but changes the gradient that
    flows back. Ops with this interface exist only before differentiation.
    `dpc-differentiate` and the passes that build `@eval` and `@infer` replace
    each of them by its operand.
  }];
  let methods = [
    InterfaceMethod<"The operand that the op passes on as its only result.",
      "::mlir::Value", "getForward">,
    InterfaceMethod<"Whether the op lets no gradient flow back to its operand.",
      "bool", "stopsGradient", (ins), "", [{ return false; }]>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_GRADIENTFORMOPINTERFACE_TD

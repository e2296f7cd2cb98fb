#ifndef DPC_DIALECTS_INTERFACES_GRADIENTFORMOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_GRADIENTFORMOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def GradientFormOpInterface : OpInterface<"GradientFormOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    An op that gives its operand as it is and differs from it in the gradient
    alone. Such ops exist before differentiation only: `dpc-differentiate`, and
    the passes that build `@eval` and `@infer`, put the operand in their place.
  }];
  let methods = [
    InterfaceMethod<"The operand that the one result equals.",
      "::mlir::Value", "getForward">,
    InterfaceMethod<"Whether no gradient passes, so that what is computed from the result alone needs none.",
      "bool", "stopsGradient", (ins), "", [{ return false; }]>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_GRADIENTFORMOPINTERFACE_TD

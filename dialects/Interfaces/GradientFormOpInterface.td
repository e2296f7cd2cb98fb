#ifndef DPC_DIALECTS_INTERFACES_GRADIENTFORMOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_GRADIENTFORMOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def GradientFormOpInterface : OpInterface<"GradientFormOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    An op whose result equals its operand and that differs from it only in its
    gradient. Such ops exist only before differentiation: `dpc-differentiate`, and
    the passes that build `@eval` and `@infer`, replace them by their operands.
  }];
  let methods = [
    InterfaceMethod<"The operand that the one result equals.",
      "::mlir::Value", "getForward">,
    InterfaceMethod<"Whether no gradient passes, so that what is computed from the result alone needs none.",
      "bool", "stopsGradient", (ins), "", [{ return false; }]>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_GRADIENTFORMOPINTERFACE_TD

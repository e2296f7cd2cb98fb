#ifndef DPC_TARGETS_LOOPS_FORMULAOPINTERFACE_TD
#define DPC_TARGETS_LOOPS_FORMULAOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def FormulaOpInterface : OpInterface<"FormulaOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The formula of an elementwise op (ElementwiseOpInterface): how one element of the
    result follows from the elements of the operands at the same index.
    targets/Loops/Ops attaches the interface to ops (external models).
  }];
  let methods = [
    InterfaceMethod<[{
      Builds ops of the arith and math dialects that compute one element of the
      result. `operands` are the elements of the op's operands: either scalars, or
      vectors of one length.
    }], "::mlir::Value", "emitFormula",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$operands)>,
  ];
}

#endif // DPC_TARGETS_LOOPS_FORMULAOPINTERFACE_TD

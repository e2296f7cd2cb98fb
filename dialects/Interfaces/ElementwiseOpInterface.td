#ifndef DPC_DIALECTS_INTERFACES_ELEMENTWISEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_ELEMENTWISEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    An op whose result element i depends only on element i of each operand. All
    operands and results have the same shape. Such ops share one sharding rule, fuse
    with each other, and may run on flat storage.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the element's value from `operands`: scalars, or vectors of one
      length, of the operands' element types. Uses the arith and math dialects.
    }], "::mlir::Value", "emitElement",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$operands)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_ELEMENTWISEOPINTERFACE_TD

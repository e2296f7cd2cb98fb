#ifndef DPC_DIALECTS_INTERFACES_ELEMENTWISEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_ELEMENTWISEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    An op for which element i of the result depends only on element i of each
    operand. All operands and results have the same shape. All elementwise ops have
    one sharding rule. They fuse with each other, and they may run on flat storage.
  }];
}

#endif // DPC_DIALECTS_INTERFACES_ELEMENTWISEOPINTERFACE_TD

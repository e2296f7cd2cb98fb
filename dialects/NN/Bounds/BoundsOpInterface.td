#ifndef DPC_DIALECTS_NN_BOUNDS_BOUNDSOPINTERFACE_TD
#define DPC_DIALECTS_NN_BOUNDS_BOUNDSOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def BoundsOpInterface : OpInterface<"BoundsOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The bounds that the integers of an op's operands must satisfy. For example, the
    indices of a gather must be inside the dimension that they index.
    BoundsModels.cpp attaches the interface to ops (external models).
  }];
  let methods = [
    InterfaceMethod<[{
      `results` has the bounds that the elements of each result must satisfy. Calls
      `need(value, bounds)` for each value whose elements must therefore satisfy
      `bounds`. A value is an operand, or a value from which an operand is computed.
    }], "void", "requireBounds",
      (ins "::llvm::ArrayRef<::dpc::nn::ElementBounds>":$results,
           "::llvm::function_ref<void(::mlir::Value, const ::dpc::nn::ElementBounds &)>":$need)>,
  ];
}

#endif // DPC_DIALECTS_NN_BOUNDS_BOUNDSOPINTERFACE_TD

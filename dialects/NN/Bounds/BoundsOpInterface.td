#ifndef DPC_DIALECTS_NN_BOUNDS_BOUNDSOPINTERFACE_TD
#define DPC_DIALECTS_NN_BOUNDS_BOUNDSOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def BoundsOpInterface : OpInterface<"BoundsOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The bounds that an op requires of integers that it reads: indices must be inside
    the dimension that they index. Attached to ops from outside (external models).
  }];
  let methods = [
    InterfaceMethod<[{
      Calls `need(value, bounds)` for each value whose elements must lie in
      `bounds`, given what is needed of the op's results. The values are
      operands, or what those were made of.
    }], "void", "requireBounds",
      (ins "::llvm::ArrayRef<::dpc::nn::ElementBounds>":$results,
           "::llvm::function_ref<void(::mlir::Value, const ::dpc::nn::ElementBounds &)>":$need)>,
  ];
}

#endif // DPC_DIALECTS_NN_BOUNDS_BOUNDSOPINTERFACE_TD

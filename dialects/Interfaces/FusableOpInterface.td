#ifndef DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def FusableOpInterface : OpInterface<"FusableOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The role of an op in kernel formation (`dpc-form-kernels`). Elementwise ops
    need not implement this interface. Any other op of the `nn` dialect without this
    interface has the role `alone`, or `outside` if it has a region.
  }];
  let methods = [
    InterfaceMethod<"The role of the op in kernel formation.",
      "::dpc::FusionKind", "getFusionKind">,
    InterfaceMethod<[{
      For a reduction: the dimensions of the first operand along which it combines
      elements, in ascending order.
    }], "::llvm::ArrayRef<int64_t>", "getReducedDims", (ins), "", "return {};">,
    InterfaceMethod<[{
      For a repeated op: whether dimension i of each operand is dimension i of the
      result. If so, one row of the result needs at most one row of each operand.
    }], "bool", "keepsRows", (ins), "", "return true;">,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_TD

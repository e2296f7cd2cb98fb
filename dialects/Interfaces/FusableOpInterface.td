#ifndef DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def FusableOpInterface : OpInterface<"FusableOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The role of an op in kernel formation. Elementwise ops need no implementation.
    Any other op without this interface is a separate kernel.
  }];
  let methods = [
    InterfaceMethod<"What the op means to kernel formation.",
      "::dpc::FusionKind", "getFusionKind">,
    InterfaceMethod<[{
      Of a reduction: the dimensions of the first operand that it combines,
      ascending.
    }], "::llvm::ArrayRef<int64_t>", "getReducedDims", (ins), "", "return {};">,
    InterfaceMethod<[{
      Of a repeated op: whether dimension i of each operand is dimension i of the
      result, so that a row of the result needs one row of the operand at most.
    }], "bool", "keepsRows", (ins), "", "return true;">,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_TD

#ifndef DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def FusableOpInterface : OpInterface<"FusableOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    How an op takes part in a kernel with others. Elementwise ops need not say
    it; an op that says nothing is a kernel of its own.
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

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
      For a repeated op: n if dimension i of each operand is dimension n + i of the result,
      for all i. If so, one row of the result along these dimensions needs at most one
      element of each operand. Null if there is no such n.
    }], "std::optional<int64_t>", "getFirstRowDim", (ins), "", "return 0;">,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_FUSABLEOPINTERFACE_TD

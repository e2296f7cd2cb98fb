#ifndef DPC_DIALECTS_INTERFACES_COSTOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_COSTOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The cost of an op on its (local) shapes. The cost model turns it into time.
  }];
  let methods = [
    InterfaceMethod<"Floating-point operations; a fused multiply-add is two.",
      "int64_t", "getFlops", (ins), "", [{ return 0; }]>,
    InterfaceMethod<[{
      Bytes read and written when the op stands alone: by default every operand
      once and every result once.
    }], "int64_t", "getBytes", (ins), "",
      [{ return ::dpc::operandAndResultBytes($_op); }]>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_COSTOPINTERFACE_TD

#ifndef DPC_DIALECTS_INTERFACES_COSTOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_COSTOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The cost of an op on the shapes of its operands and results. At level `local`
    these are the shapes of one device's shards. `planning/Device.h` turns the
    cost into time.
  }];
  let methods = [
    InterfaceMethod<"The floating-point operations of the op; a fused multiply-add counts as two.",
      "int64_t", "getFlops", (ins), "", [{ return 0; }]>,
    InterfaceMethod<[{
      The bytes that the op reads and writes if it is a kernel of its own. By
      default, it reads every operand once and writes every result once.
    }], "int64_t", "getBytes", (ins), "",
      [{ return ::dpc::operandAndResultBytes($_op); }]>,
    InterfaceMethod<[{
      The class of the kernel that the op would be. By default, it is elementwise if the op
      computes anything, and a copy if not.
    }], "::dpc::KernelClass", "getKernelClass", (ins), "", [{
      return ::dpc::classOfFlops($_op.getFlops());
    }]>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_COSTOPINTERFACE_TD

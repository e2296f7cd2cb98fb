#ifndef DPC_DIALECTS_INTERFACES_KERNELOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_KERNELOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    An op with one region that becomes one function of generated code. Operands and results
    are in memory. From level `ordered` on, all computation is in ops with this interface.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether the results are new values of states, such as weights. An update runs as soon
      as its gradient is complete, and a result may replace the old value in its buffer.
    }], "bool", "updatesState", (ins), /*methodBody=*/"", /*defaultImplementation=*/"return false;">,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_KERNELOPINTERFACE_TD

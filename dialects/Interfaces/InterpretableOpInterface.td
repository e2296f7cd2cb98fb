#ifndef DPC_DIALECTS_INTERFACES_INTERPRETABLEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_INTERPRETABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def InterpretableOpInterface : OpInterface<"InterpretableOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The reference meaning of an op, written for clarity and not for speed. Tests
    compare generated code with it, and constant folding calls it.
  }];
  let methods = [
    InterfaceMethod<[{
      Computes `results` from `operands`. The caller passes one zeroed tensor per
      result, of the type of the result. Floats are computed in double; the caller
      rounds the results to their element type. Fails with an error on the op if
      an operand has a value for which the op is not defined, e.g. an index beyond
      the end of a table.
    }], "::mlir::LogicalResult", "interpret",
      (ins "::dpc::InterpreterContext &":$context,
           "::mlir::ArrayRef<const ::dpc::HostTensor *>":$operands,
           "::mlir::MutableArrayRef<::dpc::HostTensor>":$results)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_INTERPRETABLEOPINTERFACE_TD

#ifndef DPC_DIALECTS_INTERFACES_INTERPRETABLEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_INTERPRETABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def InterpretableOpInterface : OpInterface<"InterpretableOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The meaning of an op, written for clarity. Generated code is compared with it,
    and constant folding calls it.
  }];
  let methods = [
    InterfaceMethod<[{
      Computes `results` (one zeroed tensor of the result's type each) from
      `operands`. Floats are computed in double; the caller rounds results to
      their element type. Fails with an error on the op when the values are out
      of the op's domain (an index beyond its table).
    }], "::mlir::LogicalResult", "interpret",
      (ins "::dpc::InterpreterContext &":$context,
           "::mlir::ArrayRef<const ::dpc::HostTensor *>":$operands,
           "::mlir::MutableArrayRef<::dpc::HostTensor>":$results)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_INTERPRETABLEOPINTERFACE_TD

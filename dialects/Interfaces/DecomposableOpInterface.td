#ifndef DPC_DIALECTS_INTERFACES_DECOMPOSABLEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_DECOMPOSABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    A composite op that knows its decomposition into core ops (elementwise, reduce,
    broadcast, ...). Sharding decomposes it if a loop is cut that it reduces over.
    Code generation decomposes it if the target has no form of its own for it.
  }];
  let methods = [
    InterfaceMethod<"Builds the op out of core ops; one value a result.",
      "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_DECOMPOSABLEOPINTERFACE_TD

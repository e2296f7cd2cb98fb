#ifndef DPC_DIALECTS_INTERFACES_DECOMPOSABLEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_DECOMPOSABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    A composite that says how it is made of core ops (elementwise, reduce,
    broadcast, ...). Sharding decomposes it when a loop it reduces over is cut;
    code generation decomposes it where the target has no form of its own for it.
  }];
  let methods = [
    InterfaceMethod<"Builds the op out of core ops; one value a result.",
      "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_DECOMPOSABLEOPINTERFACE_TD

#ifndef DPC_DIALECTS_INTERFACES_DECOMPOSABLEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_DECOMPOSABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    A composite op that knows its decomposition into core ops (elementwise, reduce,
    broadcast, ...). `dpc-assign-layouts` decomposes the op if a mesh axis cuts a
    loop that the op needs uncut (`LoopKind::whole`), e.g. the loop over a row of a
    softmax. Code generation decomposes the op if the target has no faster form for
    it.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds core ops that compute the same as the op, and returns one value per
      result.
    }],
      "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_DECOMPOSABLEOPINTERFACE_TD

#ifndef DPC_TARGETS_CUDA_GRIDS_GRIDFILLOPINTERFACE_TD
#define DPC_TARGETS_CUDA_GRIDS_GRIDFILLOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def GridFillOpInterface : OpInterface<"GridFillOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    A fill rule for grids of threads: each block makes tiles of an op's results,
    faster than the op's element rule (ElementOpInterface) or its decomposition. A
    rule may take several launches, which pass values in scratch memory. Attached to
    ops from outside (external models).
  }];
  let methods = [
    InterfaceMethod<"Whether the rule is the faster one for an op of this shape.",
      "bool", "pays">,
    InterfaceMethod<[{
      Whether each element of the one result is given to `emitter.storeFinal`: then
      what is elementwise over the result can be made with it.
    }], "bool", "givesFinalElements", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return true;">,
    InterfaceMethod<[{
      The grids of its launches, in their order. Where not `mayDivide`, a sum is
      made in one launch.
    }], "::llvm::SmallVector<::dpc::TileGrid>", "getGrids", (ins "bool":$mayDivide)>,
    InterfaceMethod<"Bytes that its launches hand on, where it has several.",
      "int64_t", "getScratchBytes", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return 0;">,
    InterfaceMethod<[{
      How many final elements the code of a launch gives to `emitter.storeFinal`.
    }], "int64_t", "countFinalElements", (ins "::dpc::LaunchPhase":$phase),
      /*methodBody=*/"", /*defaultImplementation=*/"return 1;">,
    InterfaceMethod<[{
      Whether a launch reads elements of operands. If not, it reads only the values
      that an earlier launch has handed on.
    }], "bool", "readsOperands", (ins "::dpc::LaunchPhase":$phase),
      /*methodBody=*/"", /*defaultImplementation=*/"return true;">,
    InterfaceMethod<[{
      Writes a launch. If it is the last one and the rule gives final elements, each
      is given once to `emitter.storeFinal`, with `finish` (may be null), by one
      thread: what is elementwise over the result is computed there, while the
      element is in a register.
    }], "void", "emitTiles",
      (ins "::dpc::GridEmitter &":$emitter, "::dpc::LaunchPhase":$phase,
           "::dpc::FinishTile":$finish)>,
  ];
}

#endif // DPC_TARGETS_CUDA_GRIDS_GRIDFILLOPINTERFACE_TD

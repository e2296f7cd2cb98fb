#ifndef DPC_TARGETS_CUDA_GRIDS_GRIDFILLOPINTERFACE_TD
#define DPC_TARGETS_CUDA_GRIDS_GRIDFILLOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def GridFillOpInterface : OpInterface<"GridFillOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    A fill rule for grids of threads. Each block computes tiles of an op's results,
    faster than the op's element rule (ElementOpInterface) or its decomposition
    would. A rule may need several launches; a launch passes values to later
    launches in scratch memory. targets/CUDA/Ops attaches the interface to ops
    (external models).
  }];
  let methods = [
    InterfaceMethod<"Whether the rule is faster for an op of these shapes and types.",
      "bool", "pays">,
    InterfaceMethod<[{
      Whether the rule passes each element of the only result to
      `emitter.storeFinal`. If so, the kernel can compute elementwise ops on the result while the
      element is in a register.
    }], "bool", "givesFinalElements", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return true;">,
    InterfaceMethod<[{
      Whether the rule passes each element of the result to `emitter.storeFinal`, although
      `givesFinalElements` is false. Then the launches of the rule, or the launches that compute
      several such results, can also compute elementwise ops that another launch would compute
      after them.
    }], "bool", "mayFinish", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return false;">,
    InterfaceMethod<[{
      The grids of the launches of the rule, in order.
    }], "::llvm::SmallVector<::dpc::TileGrid>", "getGrids",
      (ins "const ::dpc::GridOptions &":$options)>,
    InterfaceMethod<[{
      Bytes of scratch memory through which launches of the rule pass values to
      later launches.
    }],
      "int64_t", "getScratchBytes", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return 0;">,
    InterfaceMethod<[{
      The number of elements that the code of launch `phase` passes to
      `emitter.storeFinal`.
    }], "int64_t", "countFinalElements", (ins "::dpc::LaunchPhase":$phase),
      /*methodBody=*/"", /*defaultImplementation=*/"return 1;">,
    InterfaceMethod<[{
      Whether launch `phase` reads elements of operands. If not, it reads only
      values that earlier launches stored in scratch memory.
    }], "bool", "readsOperands", (ins "::dpc::LaunchPhase":$phase),
      /*methodBody=*/"", /*defaultImplementation=*/"return true;">,
    InterfaceMethod<[{
      Whether one launch can compute the results of the op and those of `others`, which do
      not depend on each other. Then the grids of the op are those of each of `others`, and
      `emitTiles` of the first one emits all that `emitter.getFilled()` has.
    }], "bool", "mayShareLaunch", (ins "::llvm::ArrayRef<::mlir::Operation *>":$others),
      /*methodBody=*/"", /*defaultImplementation=*/"return false;">,
    InterfaceMethod<[{
      Emits the code of launch `phase`. In the last launch, a rule whose
      `givesFinalElements` or `mayFinish` is true passes each element of the result to
      `emitter.storeFinal`, together with `finish`. Exactly one thread does this for
      each element. If `finish` is not null, `storeFinal` also computes the elementwise
      ops on the result, while the element is in a register.
    }], "void", "emitTiles",
      (ins "::dpc::GridEmitter &":$emitter, "::dpc::LaunchPhase":$phase,
           "::dpc::FinishTile":$finish)>,
  ];
}

#endif // DPC_TARGETS_CUDA_GRIDS_GRIDFILLOPINTERFACE_TD

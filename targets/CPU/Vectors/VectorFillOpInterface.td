#ifndef DPC_TARGETS_CPU_VECTORS_VECTORFILLOPINTERFACE_TD
#define DPC_TARGETS_CPU_VECTORS_VECTORFILLOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def VectorFillOpInterface : OpInterface<"VectorFillOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    A fill rule for processors with vectors. It fills the buffers of an op's results,
    faster than the op's element rule (ElementOpInterface) or its decomposition
    would. targets/CPU/Ops attaches the interface to ops (external models).
  }];
  let methods = [
    InterfaceMethod<"Whether the rule is faster for an op of these shapes and types.",
      "bool", "pays">,
    InterfaceMethod<"Whether the rule implements `emitTiles`.",
      "bool", "makesTiles", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      The number of calls of `finish` in `emitTiles`. Each call emits the code for
      tiles of one size. Tiles of one size in different loops need one call per loop.
    }], "int64_t", "countTileKinds", (ins "const ::dpc::VectorSite &":$site), "",
      [{ return 1; }]>,
    InterfaceMethod<[{
      The sizes in bytes of the pieces of scratch memory that the rule takes, in
      order.
    }], "::dpc::ScratchSizes", "getScratch", (ins "const ::dpc::VectorSite &":$site), "",
      [{ return {}; }]>,
    InterfaceMethod<[{
      Emits code that fills the buffers of all results, with `emitter.store`. Before,
      the buffers have undefined contents. The code may read elements of the results
      back with `emitter.load`.
    }], "void", "emitFill", (ins "::dpc::VectorEmitter &":$emitter)>,
    InterfaceMethod<[{
      Emits code that fills the buffer of the only result, as `emitFill` does, in
      tiles. Every element is in one tile. Calls `finish` at the point of the code
      where a tile is final. `finish` adds the code of elementwise ops that read the
      result, so that they read the tile while it is in cache.
    }], "void", "emitTiles",
      (ins "::dpc::VectorEmitter &":$emitter, "::dpc::FinishTile":$finish)>,
  ];
}

#endif // DPC_TARGETS_CPU_VECTORS_VECTORFILLOPINTERFACE_TD

#ifndef DPC_TARGETS_CPU_VECTORS_VECTORFILLOPINTERFACE_TD
#define DPC_TARGETS_CPU_VECTORS_VECTORFILLOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def VectorFillOpInterface : OpInterface<"VectorFillOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    A fill rule for processors with vectors: makes all elements of an op's results
    at once, faster than the op's element rule (ElementOpInterface) or its
    decomposition. Attached to ops from outside (external models).
  }];
  let methods = [
    InterfaceMethod<"Whether the rule is the faster one for an op of this shape.",
      "bool", "pays">,
    InterfaceMethod<"Whether there is `emitTiles`.",
      "bool", "makesTiles", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      How many kinds of tiles `emitTiles` makes at `site`: the number of its calls of
      `finish`. Each call writes the code for tiles of one kind.
    }], "int64_t", "countTileKinds", (ins "const ::dpc::nn::VectorSite &":$site), "",
      [{ return 1; }]>,
    InterfaceMethod<[{
      The bytes of each piece of scratch memory that the rule takes at `site`, in
      order.
    }], "::dpc::nn::ScratchSizes", "getScratch", (ins "const ::dpc::nn::VectorSite &":$site), "",
      [{ return {}; }]>,
    InterfaceMethod<[{
      Fills the buffers of all results with `emitter.store`, which hold nothing
      before. Elements of the results may be read back with `emitter.load`.
    }], "void", "emitFill", (ins "::dpc::VectorEmitter &":$emitter)>,
    InterfaceMethod<[{
      Fills the buffer of the one result, as `emitFill` does, and calls `finish`
      where a tile is final, so that every element is in one tile. What is
      elementwise over the result is then computed tile by tile in the same
      kernel, while the tile is in cache.
    }], "void", "emitTiles",
      (ins "::dpc::VectorEmitter &":$emitter, "::dpc::FinishTile":$finish)>,
  ];
}

#endif // DPC_TARGETS_CPU_VECTORS_VECTORFILLOPINTERFACE_TD

#ifndef DPC_TARGETS_CUDA_GRIDS_GRIDFILLOPINTERFACE_TD
#define DPC_TARGETS_CUDA_GRIDS_GRIDFILLOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def GridFillOpInterface : OpInterface<"GridFillOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    A fill rule for grids of threads: blocks make tiles of an op's one result,
    faster than by its element rule (ElementOpInterface) or what it decomposes
    into. Attached to ops from outside (external models).
  }];
  let methods = [
    InterfaceMethod<"Whether the rule is the faster one for an op of this shape.",
      "bool", "pays">,
    InterfaceMethod<"Blocks of the grid, and threads of a block.",
      "::dpc::TileGrid", "getTileGrid">,
    InterfaceMethod<[{
      The product that the op is, if its factors are matrices wherever they are
      dense and row-major: then a library can make it.
    }], "std::optional<::dpc::MatrixFactors>", "getFactors", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return std::nullopt;">,
    InterfaceMethod<[{
      Makes the tile of the block: each element is given once to
      `emitter.storeFinal`, with `finish` (may be null), by one thread: what is
      elementwise over the result is computed there, while the element is in a
      register.
    }], "void", "emitTiles",
      (ins "::dpc::GridEmitter &":$emitter, "::dpc::FinishTile":$finish)>,
  ];
}

#endif // DPC_TARGETS_CUDA_GRIDS_GRIDFILLOPINTERFACE_TD

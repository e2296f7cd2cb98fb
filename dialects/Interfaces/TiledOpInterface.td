#ifndef DPC_DIALECTS_INTERFACES_TILEDOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_TILEDOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def TiledOpInterface : OpInterface<"TiledOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    A pushed op (LoopOpInterface) that makes its one result in tiles and can say
    when a tile is final. What is elementwise over the result is then computed
    tile by tile in the same kernel, while the tile is in cache.
  }];
  let methods = [
    InterfaceMethod<[{
      Fills the buffer of the result, as `emitLoops` does, and calls `finish`
      where a tile is final, so that every element is in one tile.
    }], "::mlir::LogicalResult", "emitTiles",
      (ins "::dpc::LoopEmitter &":$emitter, "::dpc::FinishTile":$finish)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_TILEDOPINTERFACE_TD

#ifndef DPC_TARGETS_LOOPS_FILLOPINTERFACE_TD
#define DPC_TARGETS_LOOPS_FILLOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def FillOpInterface : OpInterface<"FillOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The fill rule of an op that has no element rule (ElementOpInterface), as its
    elements are made of each other or lie where the data says: it makes all
    elements of its results at once. Attached to ops from outside (external
    models).
  }];
  let methods = [
    InterfaceMethod<[{
      Fills the buffers of all results with `emitter.store`, which hold nothing
      before. Elements of the results may be read back with `emitter.load`.
    }], "void", "emitFill", (ins "::dpc::LoopEmitter &":$emitter)>,
  ];
}

#endif // DPC_TARGETS_LOOPS_FILLOPINTERFACE_TD

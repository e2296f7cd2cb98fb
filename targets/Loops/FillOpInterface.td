#ifndef DPC_TARGETS_LOOPS_FILLOPINTERFACE_TD
#define DPC_TARGETS_LOOPS_FILLOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def FillOpInterface : OpInterface<"FillOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The fill rule of an op whose elements depend on each other, or whose data decide
    where they go, so that an element rule (ElementOpInterface) would compute too
    much. It makes all elements of the results at once. Attached to ops from outside
    (external models).
  }];
  let methods = [
    InterfaceMethod<[{
      How the work may be divided where some `wanted` parts keep the device busy;
      1: it is done by one.
    }], "::dpc::FillParts", "getParts", (ins "int64_t":$wanted)>,
    InterfaceMethod<[{
      Fills the buffers of all results with `emitter.store`, which hold nothing
      before: one `emitter.forEach` over `parts.count` parts, as getParts gave
      them. A part may read elements that it has stored back with `emitter.load`.
    }], "void", "emitFill", (ins "::dpc::LoopEmitter &":$emitter, "::dpc::FillParts":$parts)>,
    InterfaceMethod<[{
      Whether `emitFill`, for one part, reads an operand of one element outside of all
      loops and branches. Code after it then has the element at hand.
    }], "bool", "readsInOpen", (ins "unsigned":$operand), "", [{ return false; }]>,
    InterfaceMethod<[{
      The bytes of each piece of scratch memory that `emitFill` takes for one of
      these parts, in order. `orderedSums`: sums add their terms in order.
    }], "::llvm::SmallVector<int64_t>", "getScratch",
      (ins "::dpc::FillParts":$parts, "bool":$orderedSums), "", [{ return {}; }]>,
  ];
}

#endif // DPC_TARGETS_LOOPS_FILLOPINTERFACE_TD

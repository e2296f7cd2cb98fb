#ifndef DPC_TARGETS_LOOPS_FILLOPINTERFACE_TD
#define DPC_TARGETS_LOOPS_FILLOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def FillOpInterface : OpInterface<"FillOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    A fill rule computes all elements of the results of an op at once. An op needs a
    fill rule if the elements of its results depend on each other (running sums), or
    if data decides where elements are stored (scatters). An element rule
    (ElementOpInterface) would then repeat too much work. targets/Loops/Ops attaches
    the interface to ops (external models).
  }];
  let methods = [
    InterfaceMethod<[{
      How the work may be divided. `wanted` is the number of parts that keep the
      device busy. 1 means that one thread does all the work.
    }], "::dpc::FillParts", "getParts", (ins "int64_t":$wanted)>,
    InterfaceMethod<[{
      Emits code that fills the buffers of all results, with `emitter.store`. Before,
      the buffers have undefined contents. The code is one `emitter.forEach` over
      `parts.count` parts; `parts` is a result of `getParts`. A part may read elements
      that it has stored, with `emitter.load`.
    }], "void", "emitFill", (ins "::dpc::LoopEmitter &":$emitter, "::dpc::FillParts":$parts)>,
    InterfaceMethod<[{
      Whether `emitFill` with one part reads the operand `operand`, which has one
      element, outside of all loops and branches. If so, later code finds the element
      in a register.
    }], "bool", "readsInOpen", (ins "unsigned":$operand), "", [{ return false; }]>,
    InterfaceMethod<[{
      The sizes in bytes of the pieces of scratch memory that `emitFill` takes for one
      part, in order. `orderedSums` says whether sums add their terms in order.
    }], "::llvm::SmallVector<int64_t>", "getScratch",
      (ins "::dpc::FillParts":$parts, "bool":$orderedSums), "", [{ return {}; }]>,
  ];
}

#endif // DPC_TARGETS_LOOPS_FILLOPINTERFACE_TD

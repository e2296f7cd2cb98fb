#ifndef DPC_TARGETS_LOOPS_ELEMENTOPINTERFACE_TD
#define DPC_TARGETS_LOOPS_ELEMENTOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ElementOpInterface : OpInterface<"ElementOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The element rule of an op: the formula of one element of a result, so that it
    can be computed inside the loops of its readers. Elementwise ops
    (ElementwiseOpInterface) need none. Attached to ops from outside (external
    models).
  }];
  let methods = [
    InterfaceMethod<[{
      Calls `read(operand, index)` for the elements of operands that the element
      of `result` at `index` is made of. Where it is made of many, or of those
      that the data says, `index` runs over variables of its own.
    }], "void", "visitReads",
      (ins "::dpc::IndexSpace &":$space, "unsigned":$result,
           "const ::dpc::ElementIndex &":$index, "::dpc::VisitRead":$read)>,
    InterfaceMethod<[{
      The element of `result` at `index`, from elements of the operands, which
      `emitter.read` gives: those of `visitReads` and no others.
    }], "::mlir::Value", "emitElementAt",
      (ins "::dpc::LoopEmitter &":$emitter, "unsigned":$result,
           "const ::dpc::ElementIndex &":$index)>,
    InterfaceMethod<[{
      How many loops one element runs, in loads: 0 for index arithmetic. A result
      that several elements read is then kept in memory.
    }], "int64_t", "getElementCost", (ins), "", [{ return 0; }]>,
    InterfaceMethod<[{
      How often each element of operand `operand` is read while every result
      element is made once, on average and rounded up.
    }], "int64_t", "getReadsPerElement", (ins "unsigned":$operand), "",
      [{ return ::dpc::resultElementsPer($_op, operand); }]>,
  ];
}

#endif // DPC_TARGETS_LOOPS_ELEMENTOPINTERFACE_TD

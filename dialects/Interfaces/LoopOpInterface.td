#ifndef DPC_DIALECTS_INTERFACES_LOOPOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_LOOPOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def LoopOpInterface : OpInterface<"LoopOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    How an op becomes loops. A pulled op says what one element of a result is, so
    that it can be computed inside the loops of whoever reads it. An op that has no
    such form, or has a faster one that makes all elements at once, is pushed: it
    fills its result buffers. Elementwise ops (ElementwiseOpInterface) need not
    implement this: they are pulled.
  }];
  let methods = [
    InterfaceMethod<[{
      The element of `result` at `index`, from elements of the operands, which
      `emitter.read` gives.
    }], "::mlir::Value", "emitElementAt",
      (ins "::dpc::LoopEmitter &":$emitter, "unsigned":$result,
           "const ::dpc::ElementIndex &":$index), "",
      [{ return ::mlir::Value(); }]>,
    InterfaceMethod<"Whether `emitLoops` makes the results, not `emitElementAt`.",
      "bool", "isPushed", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      Fills the buffers of all results with `emitter.store`, which hold nothing
      before. Elements of the results may be read back with `emitter.load`.
    }], "::mlir::LogicalResult", "emitLoops",
      (ins "::dpc::LoopEmitter &":$emitter), "",
      [{ return $_op->emitOpError("has no loops of its own"); }]>,
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

#endif // DPC_DIALECTS_INTERFACES_LOOPOPINTERFACE_TD

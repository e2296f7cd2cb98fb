#ifndef DPC_TARGETS_LOOPS_ELEMENTOPINTERFACE_TD
#define DPC_TARGETS_LOOPS_ELEMENTOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ElementOpInterface : OpInterface<"ElementOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The element rule of an op: the formula of one element of a result. With it,
    the loops of readers can compute the element. Elementwise ops
    have a formula (FormulaOpInterface) in place of an element rule. targets/Loops/Ops attaches the
    interface to ops (external models).
  }];
  let methods = [
    InterfaceMethod<[{
      Calls `read(operand, index)` for each element of an operand from which the
      element at `index` of result number `result` is computed. If it is computed
      from many elements, e.g. in a sum, or if data decides which elements are
      read, the index that `read` gets has new variables that stand for all these
      elements.
    }], "void", "visitReads",
      (ins "::dpc::IndexSpace &":$space, "unsigned":$result,
           "const ::dpc::ElementIndex &":$index, "::dpc::VisitRead":$read)>,
    InterfaceMethod<[{
      Emits code that computes the element at `index` of result number `result`.
      It reads elements of operands with `emitter.read`: only those that
      `visitReads` visits.
    }], "::mlir::Value", "emitElementAt",
      (ins "::dpc::LoopEmitter &":$emitter, "unsigned":$result,
           "const ::dpc::ElementIndex &":$index)>,
    InterfaceMethod<[{
      Whether `emitNeighboursAt` computes neighbours in the same loops and branches,
      so that a target can join their accesses.
    }], "bool", "joinsNeighbours", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      As `emitElementAt`, for several elements that are neighbours along the last
      dimension of the result: their positions in all other dimensions are equal. Called
      only if `joinsNeighbours()`.
    }], "::dpc::LoopEmitter::Values", "emitNeighboursAt",
      (ins "::dpc::LoopEmitter &":$emitter, "unsigned":$result,
           "::llvm::ArrayRef<::dpc::ElementIndex>":$indices), "", [{
        auto rule = ::llvm::cast<::dpc::ElementOpInterface>($_op.getOperation());
        ::dpc::LoopEmitter::Values elements;
        for (const ::dpc::ElementIndex &index : indices)
          elements.push_back(rule.emitElementAt(emitter, result, index));
        return elements;
      }]>,
    InterfaceMethod<[{
      The cost of one element as the number of elements that its loops load; 0 for
      a rule without a loop. If the cost is high, the result is kept in memory, even
      if it is read only once.
    }], "int64_t", "getElementCost", (ins), "", [{ return 0; }]>,
    InterfaceMethod<[{
      How often each element of operand `operand` is read if every element of the
      result is computed once: the average, rounded up.
    }], "int64_t", "getReadsPerElement", (ins "unsigned":$operand), "",
      [{ return ::dpc::resultElementsPer($_op, operand); }]>,
  ];
}

#endif // DPC_TARGETS_LOOPS_ELEMENTOPINTERFACE_TD

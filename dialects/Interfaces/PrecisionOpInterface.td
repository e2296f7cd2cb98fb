#ifndef DPC_DIALECTS_INTERFACES_PRECISIONOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_PRECISIONOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The treatment of an op in mixed precision (`dpc-narrow-floats`), in which floats
    have fewer bits than in the program. Ops without this interface are *wide*: they
    round, or sum many elements, and keep their type.
  }];
  let methods = [
    InterfaceMethod<[{
      `Precision::narrow`: its time is in products, which are summed in f32
      whatever the type of their factors: it takes narrow operands wherever there
      are any. `Precision::follow`: it computes no new number, so that narrowing
      its operands or its result is the same: it takes the type of what it reads,
      or of what reads it. `Precision::lookup`: it takes rows of its first operand.
      Its gradient adds up rows, so that it stays wide; but where the table is read
      narrow too, its rows are rounded (`dpc-round-lookups`), so that nothing needs
      the table wide.
    }], "::dpc::Precision", "getPrecision", (ins), "", [{ return ::dpc::Precision::follow; }]>,
    InterfaceMethod<"Whether operand `number`, if it holds floats, is one of those that become narrow.",
      "bool", "narrowsOperand", (ins "unsigned":$number), "", [{ return true; }]>,
    InterfaceMethod<"Whether result `number`, if it holds floats, is one of those that become narrow.",
      "bool", "narrowsResult", (ins "unsigned":$number), "", [{ return true; }]>,
    InterfaceMethod<"Whether the results may have a wider float type than the operands.",
      "bool", "sumsToWider", (ins), "", [{ return false; }]>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_PRECISIONOPINTERFACE_TD

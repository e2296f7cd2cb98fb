#ifndef DPC_DIALECTS_INTERFACES_PRECISIONOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_PRECISIONOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The treatment of an op in mixed precision (`dpc-narrow-floats`). There, *narrow*
    floats have fewer bits than the floats of the user's model, and *wide* floats
    have the same number of bits. An op without this interface keeps its wide type,
    because it rounds its result or sums many elements.
  }];
  let methods = [
    InterfaceMethod<[{
      `Precision::narrow`: the op spends its time on products, and sums them in f32
      whatever type their factors have. It takes narrow operands wherever possible.

      `Precision::follow`: the op computes no new number, so narrowing its operands
      gives the same as narrowing its result. It takes the type of its operands, or
      of the ops that read its result.

      `Precision::lookup`: the op takes rows of its first operand, a table. It stays
      wide, because its gradient adds up rows. But if other ops read the table as
      narrow, the rows are rounded too (`dpc-round-lookups`). Then no op needs the
      wide table.
    }], "::dpc::Precision", "getPrecision", (ins), "", [{ return ::dpc::Precision::follow; }]>,
    InterfaceMethod<"Whether operand `number` becomes narrow if it holds floats.",
      "bool", "narrowsOperand", (ins "unsigned":$number), "", [{ return true; }]>,
    InterfaceMethod<"Whether result `number` becomes narrow if it holds floats.",
      "bool", "narrowsResult", (ins "unsigned":$number), "", [{ return true; }]>,
    InterfaceMethod<"Whether the results may have a wider float type than the operands.",
      "bool", "sumsToWider", (ins), "", [{ return false; }]>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_PRECISIONOPINTERFACE_TD

#ifndef DPC_DIALECTS_DIST_IR_DISTATTRS_TD
#define DPC_DIALECTS_DIST_IR_DISTATTRS_TD

include "dialects/Dist/IR/DistDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Dist_ReductionKind : I32EnumAttr<"ReductionKind", "How a collective combines values", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>,
]> {
  let cppNamespace = "::dpc::dist";
}

def Dist_LayoutAttr : AttrDef<Dist_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "How a logical tensor lies on the mesh";
  let description = [{
    The text of a `dist::Layout` (Layout.h), in its normal form.

    ```mlir
    #dist.layout<"[(8: micro,data)], [(4: model)(8)] partial sum(data)">
    ```
  }];
  let parameters = (ins StringRefParameter<>:$text);
  let assemblyFormat = "`<` $text `>`";
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "const ::dpc::dist::Layout &":$layout)>,
  ];
  let extraClassDeclaration = [{
    /// The layout the text describes.
    ::dpc::dist::Layout getLayout() const;
  }];
}

def Dist_MicroOperandKind : I32EnumAttr<"MicroKind", "How a value crosses the edge of a microbatch loop", [
  I32EnumAttrCase<"whole", 0>,   // operand: the same at every turn
  I32EnumAttrCase<"sliced", 1>,  // operand: turn m reads slice m of its first dimension
  I32EnumAttrCase<"stacked", 2>, // result: turn m gives slice m of its first dimension
  I32EnumAttrCase<"summed", 3>,  // result: the sum over the turns
]> {
  let cppNamespace = "::dpc::dist";
  let genSpecializedAttr = 0;
}

#endif // DPC_DIALECTS_DIST_IR_DISTATTRS_TD
